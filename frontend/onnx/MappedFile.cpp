// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opening, checking and mapping of files (POSIX).
#include "MappedFile.h"
#include "Text.h"
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuc::frontend {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
};

std::optional<std::string> realPath(const std::string &path) {
  char *resolved = ::realpath(path.c_str(), nullptr);
  if (!resolved)
    return std::nullopt;
  std::string result = resolved;
  std::free(resolved);
  return result;
}

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Both must be resolved paths.
bool liesBelow(const std::string &path, const std::string &folder) {
  if (folder == "/")
    return true;
  return path.size() > folder.size() && path.compare(0, folder.size(), folder) == 0 &&
         path[folder.size()] == '/';
}

bool liesBelowAny(const std::string &path, const std::vector<std::string> &folders) {
  for (const std::string &folder : folders)
    if (liesBelow(path, folder))
      return true;
  return false;
}

/// Nothing when the location is one that may be opened, else why not.
Status checkLocation(const std::string &location) {
  auto refuse = [&](const char *why) {
    return invalidArgument("external data location " + quoted(location) + " " + why);
  };
  if (location.empty())
    return refuse("is empty");
  if (location.find('\0') != std::string::npos)
    return refuse("contains a NUL character");
  if (location[0] == '/')
    return refuse("is absolute; it must be relative to the model's folder");
  for (size_t start = 0; start <= location.size();) {
    size_t end = location.find('/', start);
    if (end == std::string::npos)
      end = location.size();
    if (location.compare(start, end - start, "..") == 0)
      return refuse("contains '..'; data must lie in the model's folder");
    start = end + 1;
  }
  return {};
}

} // namespace

MappedFile::~MappedFile() {
  if (count)
    ::munmap(const_cast<uint8_t *>(bytes), count);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string &path,
                                                           const std::vector<std::string> *folders) {
  if (path.find('\0') != std::string::npos)
    return invalidArgument("file name " + quoted(path) + " contains a NUL character");
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (file.fd < 0) {
    std::string message = "can't open " + quoted(path) + ": " + std::strerror(errno);
    return errno == ENOENT ? notFound(message) : ioError(message);
  }
  struct stat info;
  if (::fstat(file.fd, &info) != 0)
    return ioError("can't read " + quoted(path) + ": " + std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    return invalidArgument(
        quoted(path) + (S_ISDIR(info.st_mode) ? " is a folder, expected a file" : " is not a regular file"));
  if (folders) {
    // What was opened may be another file than the one that was looked at before.
    auto real = realPath("/proc/self/fd/" + std::to_string(file.fd));
    if (real && !liesBelowAny(*real, *folders))
      return invalidArgument(quoted(path) + " leads out of the model's folder");
  }
  if (info.st_size == 0)
    return std::shared_ptr<const MappedFile>(new MappedFile(nullptr, 0));
  void *mapped = ::mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (mapped == MAP_FAILED)
    return ioError("can't map " + quoted(path) + ": " + std::strerror(errno));
  return std::shared_ptr<const MappedFile>(
      new MappedFile(static_cast<const uint8_t *>(mapped), size_t(info.st_size)));
}

std::vector<std::string> resolvedFolder(const std::string &folder) {
  auto real = realPath(folder);
  return real ? std::vector<std::string>{*real} : std::vector<std::string>();
}

std::vector<std::string> dataFolders(const std::string &modelPath) {
  std::vector<std::string> folders = resolvedFolder(folderOf(modelPath));
  if (auto model = realPath(modelPath); model && !folders.empty() && folderOf(*model) != folders.front())
    folders.push_back(folderOf(*model));
  return folders;
}

Result<std::shared_ptr<const MappedFile>> ExternalFiles::get(const std::string &location) {
  GPUC_RETURN_IF_ERROR(checkLocation(location));
  if (allowed.empty())
    return invalidArgument("external data " + quoted(location) +
                           " can't be read, because the model was not loaded from a folder");
  std::string path = allowed.front() + "/" + location;
  auto real = realPath(path);
  if (!real)
    return notFound("external data file " + quoted(location) +
                    " was not found beside the model: " + std::strerror(errno));
  if (!liesBelowAny(*real, allowed))
    return invalidArgument("external data " + quoted(location) + " leads out of the model's folder");
  auto found = opened.find(*real);
  if (found != opened.end())
    return found->second;
  auto file = MappedFile::open(*real, &allowed);
  if (file)
    opened.emplace(*real, *file);
  return file;
}

} // namespace gpuc::frontend
