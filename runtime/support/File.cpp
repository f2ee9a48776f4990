// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files over POSIX calls, so that every failure can say which step failed and why.
#include "gpuc/Support/File.h"
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuc {

namespace {
/// Closes its descriptor.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
};
} // namespace

static std::string reason(int error) { return std::strerror(error); }

/// Opens a regular file and gives its size. O_NONBLOCK: opening a pipe without a writer must not hang.
static Result<uint64_t> openRegular(const std::string &path, Descriptor &out) {
  if (path.find('\0') != std::string::npos)
    return invalidArgument("file name contains a NUL character");
  out.fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (out.fd < 0) {
    int error = errno;
    std::string text = "cannot open '" + path + "': " + reason(error);
    return error == ENOENT || error == ENOTDIR ? notFound(text) : ioError(text);
  }
  struct stat info;
  if (::fstat(out.fd, &info) != 0)
    return ioError("cannot inspect '" + path + "': " + reason(errno));
  if (S_ISDIR(info.st_mode))
    return ioError("cannot read '" + path + "': expected a file, got a folder");
  if (!S_ISREG(info.st_mode))
    return ioError("cannot read '" + path + "': expected a regular file, got a pipe, socket or device");
  return uint64_t(info.st_size);
}

Result<SharedBytes> mapFile(const std::string &path) {
  Descriptor file{-1};
  auto size = openRegular(path, file);
  if (!size)
    return size.status();
  if (*size == 0)
    return SharedBytes();
  size_t bytes = size_t(*size);
  void *address = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (address == MAP_FAILED)
    return ioError("cannot map '" + path + "' (" + std::to_string(bytes) + " bytes): " + reason(errno));
  std::shared_ptr<const void> owner(address,
                                    [bytes](const void *p) { ::munmap(const_cast<void *>(p), bytes); });
  return SharedBytes(address, bytes, std::move(owner));
}

Result<std::string> readFile(const std::string &path, uint64_t limit) {
  Descriptor file{-1};
  auto size = openRegular(path, file);
  if (!size)
    return size.status();
  if (*size > limit)
    return invalidArgument("cannot read '" + path + "': it has " + std::to_string(*size) +
                           " bytes, expected at most " + std::to_string(limit));
  std::string text(size_t(*size), '\0');
  size_t done = 0;
  while (done < text.size()) {
    ssize_t n = ::read(file.fd, &text[done], text.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return ioError("cannot read '" + path + "': " + reason(errno));
    if (n == 0)
      break;
    done += size_t(n);
  }
  text.resize(done);
  return text;
}

static std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

static Status writeAll(int fd, std::string_view piece) {
  while (!piece.empty()) {
    // One write moves at most 2 GiB on Linux; ask for less so that short writes stay the exception.
    ssize_t n = ::write(fd, piece.data(), piece.size() < (size_t(1) << 30) ? piece.size() : size_t(1) << 30);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return ioError(reason(errno));
    if (n == 0)
      return ioError("the system wrote nothing");
    piece.remove_prefix(size_t(n));
  }
  return {};
}

Status writeFileAtomically(const std::string &path, const std::vector<std::string_view> &pieces) {
  if (path.empty() || path.find('\0') != std::string::npos)
    return invalidArgument("cannot write to a file name that is empty or contains a NUL character");
  // A device or pipe cannot be replaced by a rename (and must not be): write into it.
  struct stat info;
  bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return ioError("cannot write '" + path + "': it is a folder");
  if (exists && !S_ISREG(info.st_mode)) {
    Descriptor device{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
    if (device.fd < 0)
      return ioError("cannot open '" + path + "' for writing: " + reason(errno));
    for (std::string_view piece : pieces)
      if (Status s = writeAll(device.fd, piece); !s.ok())
        return ioError("cannot write '" + path + "': " + s.message());
    return {};
  }
  static std::atomic<unsigned> counter{0};
  std::string temporary;
  Descriptor file{-1};
  for (int attempt = 0; attempt < 100 && file.fd < 0; ++attempt) {
    std::string name = ".gpuc-tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
    temporary = joinPath(folderOf(path), name);
    file.fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.fd < 0 && errno != EEXIST)
      break;
  }
  if (file.fd < 0)
    return ioError("cannot write '" + path + "': cannot create a temporary file in '" + folderOf(path) +
                   "': " + reason(errno));
  auto fail = [&](const std::string &what) {
    ::unlink(temporary.c_str());
    return ioError("cannot write '" + path + "': " + what);
  };
  uint64_t total = 0;
  for (std::string_view piece : pieces) {
    total += piece.size();
    if (Status s = writeAll(file.fd, piece); !s.ok())
      return fail(s.message());
  }
  if (::fsync(file.fd) != 0 && errno != EINVAL && errno != ENOTSUP)
    return fail("cannot flush " + std::to_string(total) + " bytes: " + reason(errno));
  int fd = file.fd;
  file.fd = -1;
  if (::close(fd) != 0)
    return fail(reason(errno));
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return fail("cannot rename '" + temporary + "': " + reason(errno));
  return {};
}

Status createDirectories(const std::string &path) {
  if (path.empty())
    return invalidArgument("cannot create a folder with an empty name");
  for (size_t at = 1; at <= path.size(); ++at) {
    if (at != path.size() && path[at] != '/')
      continue;
    std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0777) == 0 || errno == EEXIST)
      continue;
    int error = errno;
    struct stat info;
    if (::stat(part.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
      continue;
    return ioError("cannot create folder '" + part + "': " + reason(error));
  }
  struct stat info;
  if (::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return ioError("cannot create folder '" + path + "': a file of that name is in the way");
  return {};
}

bool fileExists(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

std::string safeFileName(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, 200)) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                 c == '-' || (c == '.' && !out.empty());
    out += plain ? c : '_';
  }
  return out.empty() ? "_" : out;
}

std::string joinPath(std::string_view dir, std::string_view name) {
  std::string out(dir);
  if (!out.empty() && out.back() != '/')
    out += '/';
  out += name;
  return out;
}

std::string cacheDirectory() {
  auto variable = [](const char *name) -> std::string {
    const char *value = std::getenv(name);
    return value ? value : "";
  };
  if (std::string dir = variable("GPUC_CACHE_DIR"); !dir.empty())
    return dir;
  if (std::string dir = variable("XDG_CACHE_HOME"); !dir.empty() && dir[0] == '/')
    return joinPath(dir, "gpuc");
  if (std::string dir = variable("HOME"); !dir.empty())
    return joinPath(dir, ".cache/gpuc");
  return "/tmp/gpuc-" + std::to_string(::getuid());
}

} // namespace gpuc
