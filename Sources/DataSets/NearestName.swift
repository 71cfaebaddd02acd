/// The word with the fewest edits to `word`, where that is near enough to be a slip of the keyboard.
///
/// Order: the first of equally near ones. Source: Levenshtein distance, at most a third of the length.
func nearest(to word: String, among words: [String]) -> String? {
  let limit = max(1, word.count / 3)
  var best: (distance: Int, word: String)?
  for candidate in words {
    let distance = edits(Array(word.lowercased()), Array(candidate.lowercased()))
    if distance <= limit && distance < best?.distance ?? Int.max { best = (distance, candidate) }
  }
  return best?.word
}

private func edits(_ a: [Character], _ b: [Character]) -> Int {
  var row = Array(0...b.count)
  for i in a.indices {
    var diagonal = row[0]
    row[0] = i + 1
    for j in b.indices {
      let replaced = diagonal + (a[i] == b[j] ? 0 : 1)
      diagonal = row[j + 1]
      row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
    }
  }
  return row[b.count]
}
