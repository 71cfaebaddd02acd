// How a question is put to the search, and a worker for pages that are opened as files (`make docs`).
//
// The theme's search takes each word as the beginning of a word, "a" and "the" included. Words that ask nothing are left
// out here, and a plural finds its singular, too. Tests/Site/check_search.py reads the list.
const asksNothing = new Set(
  ("a about after all an and any are as at be by can did do does each for from get has have how i if in into is it its " +
    "kind many mean means me much my need not of on one or out over own should so some than that the their them then " +
    "there these this to use using want was we what when where which who whose why will with would you your").split(" "));

function asked(question) {
  const words = question.split(/\s+/).filter((word) => word);
  const kept = words.filter((word) => !asksNothing.has(word.toLowerCase().replace(/[?!.,]+$/, "")));
  return (kept.length ? kept : words).map((word) => word.replace(/[?!.,]+$/, "").replace(/([^s]{3})s$/i, "$1")).join(" ");
}

function question(message) {
  return typeof message.data === "string" ? { ...message, data: asked(message.data) } : message;
}

if (location.protocol === "file:") {
  // Browsers refuse workers there. The search runs in a hidden frame instead.
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.frame = frame.contentWindow;
      this.frame.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = frame.contentDocument.createElement("script");
      script.src = url;
      script.onload = () => {
        for (const data of this.waiting) this.deliver(data);
        this.waiting = null;
      };
      frame.contentDocument.body.appendChild(script);
    }
    postMessage(message) {
      if (this.waiting) this.waiting.push(question(message));
      else this.deliver(question(message));
    }
    deliver(data) {
      this.frame.dispatchEvent(new MessageEvent("message", { data }));
    }
    terminate() {}
  };
  window.Worker = window.IFrameWorker;
} else {
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    post.call(this, question(message), ...rest);
  };
}
