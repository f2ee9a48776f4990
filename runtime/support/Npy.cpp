// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes .npy files. The header is a Python literal; HeaderParser accepts the dictionaries that
// NumPy writes, in any key order, and nothing that could need evaluation.
#include "gpuc/Support/Npy.h"
#include "gpuc/Support/CheckedMath.h"
#include "gpuc/Support/File.h"
#include <algorithm>
#include <cstring>
#include <string_view>

namespace gpuc {

static constexpr std::string_view kMagic("\x93NUMPY", 6);
static constexpr size_t kMaxRank = 64;

namespace {
struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortran;
  std::optional<Shape> shape;
};

class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}
  Result<Header> parse() {
    Header header;
    if (!eat('{'))
      return bad("expected '{'");
    while (!eat('}')) {
      std::string key;
      if (!string(key) || !eat(':'))
        return bad("expected a key and ':'");
      if (key == "descr") {
        if (peek() == '[')
          return unsupported(".npy file holds records, expected an array of numbers");
        std::string descr;
        if (!string(descr))
          return bad("expected a string as 'descr'");
        header.descr = descr;
      } else if (key == "fortran_order") {
        if (word("True"))
          header.fortran = true;
        else if (word("False"))
          header.fortran = false;
        else
          return bad("expected True or False as 'fortran_order'");
      } else if (key == "shape") {
        Shape shape;
        if (!tuple(shape))
          return bad("expected a tuple of sizes as 'shape'");
        header.shape = shape;
      } else {
        return bad("unknown key");
      }
      if (!eat(',') && peek() != '}')
        return bad("expected ',' or '}'");
    }
    if (!header.descr || !header.fortran || !header.shape)
      return bad("expected the keys 'descr', 'fortran_order' and 'shape'");
    return header;
  }

private:
  Status bad(const char *what) { return dataLoss(std::string("malformed .npy header: ") + what); }
  void skip() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r'))
      ++at;
  }
  char peek() {
    skip();
    return at < text.size() ? text[at] : '\0';
  }
  bool eat(char c) {
    if (peek() != c || c == '\0')
      return false;
    ++at;
    return true;
  }
  bool word(std::string_view w) {
    skip();
    if (text.substr(at, w.size()) != w)
      return false;
    at += w.size();
    return true;
  }
  bool string(std::string &out) {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return false;
    size_t end = text.find(quote, at + 1);
    if (end == std::string_view::npos)
      return false;
    out = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return out.find('\\') == std::string::npos;
  }
  bool tuple(Shape &out) {
    if (!eat('('))
      return false;
    while (!eat(')')) {
      if (peek() < '0' || peek() > '9')
        return false;
      int64_t value = 0;
      for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
        auto scaled = checkedMul(value, 10);
        auto next = scaled ? checkedAdd(*scaled, text[at] - '0') : std::nullopt;
        if (!next)
          return false;
        value = *next;
      }
      if (at < text.size() && text[at] == 'L') // Python 2
        ++at;
      out.push_back(value);
      if (out.size() > kMaxRank || (!eat(',') && peek() != ')'))
        return false;
    }
    return true;
  }
  std::string_view text;
  size_t at = 0;
};
} // namespace

/// Type for "<f4" without the byte order character; nothing when gpuc has no such type.
static std::optional<DType> typeOf(std::string_view code, std::optional<DType> expected) {
  struct Entry {
    std::string_view code;
    DType type;
  };
  static constexpr Entry kEntries[] = {
      {"b1", DType::Bool}, {"i1", DType::I8},  {"i2", DType::I16}, {"i4", DType::I32},
      {"i8", DType::I64},  {"u1", DType::U8},  {"u2", DType::U16}, {"u4", DType::U32},
      {"u8", DType::U64},  {"f2", DType::F16}, {"f4", DType::F32}, {"f8", DType::F64},
  };
  for (const Entry &e : kEntries)
    if (e.code == code)
      return e.type;
  // ml_dtypes' types are void to NumPy. Two bytes can only be bfloat16.
  if (code == "V2")
    return DType::BF16;
  if (code == "V1" && expected && bitWidth(*expected) == 8 && isFloat(*expected))
    return expected;
  if (code.size() > 1 && expected && name(*expected) == code)
    return expected;
  return std::nullopt;
}

static void reverseBytes(uint8_t *data, size_t count, size_t width) {
  for (size_t i = 0; i < count; ++i)
    std::reverse(data + i * width, data + (i + 1) * width);
}

/// Column-major to row-major.
static void transposeInto(uint8_t *dst, const uint8_t *src, const Shape &shape, size_t width) {
  size_t rank = shape.size();
  std::vector<int64_t> stride(rank), at(rank, 0);
  int64_t step = 1;
  for (size_t i = 0; i < rank; ++i) {
    stride[i] = step;
    step *= shape[i];
  }
  int64_t offset = 0;
  for (int64_t i = 0; i < step; ++i) {
    std::memcpy(dst + size_t(i) * width, src + size_t(offset) * width, width);
    for (size_t d = rank; d-- > 0;) {
      offset += stride[d];
      if (++at[d] < shape[d])
        break;
      offset -= stride[d] * shape[d];
      at[d] = 0;
    }
  }
}

Result<HostTensor> parseNpy(const void *data, size_t size, std::optional<DType> expected) {
  std::string_view all(static_cast<const char *>(data), size);
  if (all.substr(0, 6) != kMagic)
    return dataLoss("not a .npy file: expected the bytes '\\x93NUMPY' at the start");
  if (size < 10)
    return dataLoss("truncated .npy file: " + std::to_string(size) + " bytes");
  int major = uint8_t(all[6]);
  if (major < 1 || major > 3)
    return unsupported("unknown .npy version " + std::to_string(major) + ", expected 1, 2 or 3");
  size_t prefix = major == 1 ? 10 : 12;
  if (size < prefix)
    return dataLoss("truncated .npy file: " + std::to_string(size) + " bytes");
  size_t length = 0;
  for (size_t i = prefix; i-- > 8;)
    length = length << 8 | uint8_t(all[i]);
  if (length > size - prefix)
    return dataLoss("truncated .npy file: header of " + std::to_string(length) + " bytes in a file of " +
                    std::to_string(size));
  auto header = HeaderParser(all.substr(prefix, length)).parse();
  if (!header)
    return header.status();

  std::string_view descr = *header->descr;
  bool swapped = !descr.empty() && descr[0] == '>';
  if (!descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos)
    descr.remove_prefix(1);
  auto type = typeOf(descr, expected);
  if (!type)
    return unsupported("unsupported .npy element type '" + *header->descr +
                       "', expected booleans, integers or floats of 1 to 8 bytes");
  auto count = checkedProduct(*header->shape);
  auto bytes = count ? checkedMul(*count, bitWidth(*type) / 8) : std::nullopt;
  std::string_view body = all.substr(prefix + length);
  if (!bytes || uint64_t(*bytes) > body.size())
    return dataLoss("truncated .npy file: shape " + toString(*header->shape) + " of " +
                    std::string(name(*type)) + " needs " +
                    (bytes ? std::to_string(*bytes) + " bytes" : std::string("too many bytes")) + ", got " +
                    std::to_string(body.size()));
  HostTensor tensor(*type, *header->shape);
  size_t width = bitWidth(*type) / 8;
  if (*bytes) {
    auto source = reinterpret_cast<const uint8_t *>(body.data());
    if (*header->fortran && header->shape->size() > 1)
      transposeInto(tensor.mutableBytes(), source, *header->shape, width);
    else
      std::memcpy(tensor.mutableBytes(), source, size_t(*bytes));
    if (swapped)
      reverseBytes(tensor.mutableBytes(), size_t(*count), width);
    if (*type == DType::Bool)
      for (int64_t i = 0; i < *count; ++i)
        tensor.mutableBytes()[i] = tensor.bytes()[i] != 0;
  }
  return tensor;
}

Result<HostTensor> readNpy(const std::string &path, std::optional<DType> expected) {
  auto file = mapFile(path);
  if (!file)
    return file.status();
  auto tensor = parseNpy(file->data(), file->size(), expected);
  if (!tensor)
    return Status(tensor.status().code(), "cannot read '" + path + "': " + tensor.status().message());
  return tensor;
}

Result<std::string> npyHeader(DType dtype, const Shape &shape) {
  static constexpr const char *kDescr[] = {"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2",
                                           "<u4", "<u8", "<f2", "<V2", "<f4", "<f8"};
  if (bitWidth(dtype) < 8)
    return unsupported("cannot write " + std::string(name(dtype)) + " as .npy: it has no sub-byte types");
  std::string descr = isComputeType(dtype) ? kDescr[unsigned(dtype)] : "|V1";
  std::string dict = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < shape.size(); ++i)
    dict += std::to_string(shape[i]) + (i + 1 == shape.size() && i ? "" : i + 1 == shape.size() ? "," : ", ");
  dict += "), }";
  int major = dict.size() + 64 + 10 < 65536 ? 1 : 2;
  size_t prefix = major == 1 ? 10 : 12;
  while ((prefix + dict.size() + 1) % 64)
    dict += ' ';
  dict += '\n';
  std::string out(kMagic);
  out += char(major);
  out += '\0';
  for (size_t i = 8; i < prefix; ++i)
    out += char(dict.size() >> (8 * (i - 8)));
  return out + dict;
}

Status writeNpy(const std::string &path, const HostTensor &tensor) {
  auto header = npyHeader(tensor.dtype(), tensor.shape());
  if (!header)
    return header.status();
  std::string_view body(reinterpret_cast<const char *>(tensor.bytes()), size_t(tensor.sizeInBytes()));
  return writeFileAtomically(path, std::vector<std::string_view>{*header, body});
}

} // namespace gpuc
