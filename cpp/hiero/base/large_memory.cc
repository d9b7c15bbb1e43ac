#include "hiero/base/large_memory.h"

#include <cstdlib>
#include <cstring>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace hiero {
namespace {

#ifdef __linux__

// Larger arrays have pages of their own.
constexpr std::size_t kMappedBytes = std::size_t{1} << 18;

bool is_mapped(std::size_t size) { return size >= kMappedBytes; }

// Returns nullptr where there is no memory.
void* grow_pages(void* data, std::size_t old_size, std::size_t size) {
  if (is_mapped(old_size)) {
    void* const moved = ::mremap(data, old_size, size, MREMAP_MAYMOVE);
    return moved == MAP_FAILED ? nullptr : moved;
  }
  void* const pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  if (data) std::memcpy(pages, data, old_size);
  std::free(data);
  return pages;
}

#else

bool is_mapped(std::size_t) { return false; }
void* grow_pages(void*, std::size_t, std::size_t) { return nullptr; }
void munmap(void*, std::size_t) {}

#endif

}  // namespace

void* grow_memory(void* data, std::size_t old_size, std::size_t size) {
  void* const grown = is_mapped(size) ? grow_pages(data, old_size, size) : std::realloc(data, size);
  if (!grown) throw std::bad_alloc();
  return grown;
}

void free_memory(void* data, std::size_t size) {
  if (!data) return;
  if (is_mapped(size)) {
    munmap(data, size);
  } else {
    std::free(data);
  }
}

void return_freed_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace hiero
