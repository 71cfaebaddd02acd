// HDF5 and its dimension scales. Swift cannot import HDF5's macros, most of which hide a variable
// that H5open() fills, so each one that is needed has a function here.
#pragma once
#include <hdf5.h>
#include <hdf5_hl.h>
#include <string.h>

static inline hid_t chdf5_f64_file(void) { return H5T_IEEE_F64LE; }
static inline hid_t chdf5_f32_file(void) { return H5T_IEEE_F32LE; }
static inline hid_t chdf5_i64_file(void) { return H5T_STD_I64LE; }
static inline hid_t chdf5_i32_file(void) { return H5T_STD_I32LE; }
static inline hid_t chdf5_i8_file(void) { return H5T_STD_I8LE; }
static inline hid_t chdf5_u8_file(void) { return H5T_STD_U8LE; }
static inline hid_t chdf5_u64_file(void) { return H5T_STD_U64LE; }
static inline hid_t chdf5_f64(void) { return H5T_NATIVE_DOUBLE; }
static inline hid_t chdf5_f32(void) { return H5T_NATIVE_FLOAT; }
static inline hid_t chdf5_i64(void) { return H5T_NATIVE_INT64; }
static inline hid_t chdf5_i32(void) { return H5T_NATIVE_INT32; }
static inline hid_t chdf5_i8(void) { return H5T_NATIVE_INT8; }
static inline hid_t chdf5_u8(void) { return H5T_NATIVE_UINT8; }
static inline hid_t chdf5_u64(void) { return H5T_NATIVE_UINT64; }
static inline hid_t chdf5_c_string(void) { return H5T_C_S1; }

static inline hid_t chdf5_file_create(void) { return H5P_FILE_CREATE; }
static inline hid_t chdf5_file_access(void) { return H5P_FILE_ACCESS; }
static inline hid_t chdf5_dataset_create(void) { return H5P_DATASET_CREATE; }
static inline hid_t chdf5_dataset_transfer(void) { return H5P_DATASET_XFER; }
static inline hid_t chdf5_group_create(void) { return H5P_GROUP_CREATE; }
static inline hid_t chdf5_default(void) { return H5P_DEFAULT; }

static inline hid_t chdf5_all(void) { return H5S_ALL; }
static inline hsize_t chdf5_unlimited(void) { return H5S_UNLIMITED; }
static inline size_t chdf5_variable_length(void) { return H5T_VARIABLE; }
static inline unsigned chdf5_truncate(void) { return H5F_ACC_TRUNC; }
static inline unsigned chdf5_read_only(void) { return H5F_ACC_RDONLY; }
static inline unsigned chdf5_tracked_and_indexed(void) {
  return H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
}
static inline unsigned chdf5_tracked(void) { return H5P_CRT_ORDER_TRACKED; }

/// Silences HDF5's printing of errors for the calling thread.
static inline void chdf5_be_silent(void) { H5Eset_auto2(H5E_DEFAULT, NULL, NULL); }

static inline hid_t chdf5_reference(void) { return H5T_STD_REF_OBJ; }

/// A variable along a scale, and which of its axes that is; without unset bytes.
struct chdf5_use {
  hobj_ref_t dataset;
  int dimension;
  int zero;
};

/// The type of such an entry in a scale's list.
static inline hid_t chdf5_use_type(void) {
  hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct chdf5_use));
  if (type < 0) return type;
  if (H5Tinsert(type, "dataset", HOFFSET(struct chdf5_use, dataset), H5T_STD_REF_OBJ) < 0 ||
      H5Tinsert(type, "dimension", HOFFSET(struct chdf5_use, dimension), H5T_NATIVE_INT) < 0) {
    H5Tclose(type);
    return -1;
  }
  return type;
}

struct chdf5_text {
  char *bytes;
  size_t size;
};

static inline herr_t chdf5_first_error(unsigned n, const H5E_error2_t *error, void *context) {
  struct chdf5_text *text = (struct chdf5_text *)context;
  (void)n;
  if (text->bytes[0] == 0 && error->desc != NULL) {
    strncpy(text->bytes, error->desc, text->size - 1);
    text->bytes[text->size - 1] = 0;
  }
  return 0;
}

/// Writes the innermost entry of HDF5's error stack, and empties the stack.
static inline void chdf5_take_error(char *bytes, size_t size) {
  struct chdf5_text text = {bytes, size};
  bytes[0] = 0;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, chdf5_first_error, &text);
  H5Eclear2(H5E_DEFAULT);
}

/// The address of an object in its file, in two parts; negative: there is none.
static inline herr_t chdf5_address(hid_t object, unsigned long address[2]) {
  H5G_stat_t found = {0};
  herr_t status = H5Gget_objinfo(object, ".", 0, &found);
  address[0] = found.objno[0];
  address[1] = found.objno[1];
  return status;
}

static inline herr_t chdf5_keep_address(hid_t dataset, unsigned axis, hid_t scale, void *context) {
  (void)dataset;
  (void)axis;
  return chdf5_address(scale, (unsigned long *)context) < 0 ? -1 : 1;
}

/// Writes the address of the first scale attached to an axis: 1, or 0 if there is none.
static inline herr_t chdf5_scale_of(hid_t dataset, unsigned axis, unsigned long address[2]) {
  int start = 0;
  return H5DSiterate_scales(dataset, axis, &start, chdf5_keep_address, address);
}

static inline herr_t chdf5_keep_path(hid_t dataset, unsigned axis, hid_t scale, void *context) {
  (void)dataset;
  (void)axis;
  ssize_t length = H5Iget_name(scale, (char *)context, 1024);
  return length > 0 ? 1 : -1;
}

/// Writes the path of that scale into 1024 bytes; HDF5 looks through the whole file for it.
static inline herr_t chdf5_path_of_scale(hid_t dataset, unsigned axis, char *path) {
  path[0] = 0;
  int start = 0;
  return H5DSiterate_scales(dataset, axis, &start, chdf5_keep_path, path);
}

/// Frees what HDF5 allocated for the variable-length values of a buffer.
static inline herr_t chdf5_reclaim(hid_t type, hid_t space, void *buffer) {
  return H5Dvlen_reclaim(type, space, H5P_DEFAULT, buffer);
}

struct chdf5_names {
  void (*take)(const char *name, void *context);
  void *context;
};

static inline herr_t chdf5_take_name(
    hid_t group, const char *name, const H5L_info_t *link, void *context) {
  (void)group;
  (void)link;
  struct chdf5_names *names = (struct chdf5_names *)context;
  names->take(name, names->context);
  return 0;
}

/// Gives the names of a group's members to a function, in the order of their bytes.
static inline herr_t chdf5_each_name(
    hid_t group, void (*take)(const char *name, void *context), void *context) {
  struct chdf5_names names = {take, context};
  return H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, chdf5_take_name, &names);
}
