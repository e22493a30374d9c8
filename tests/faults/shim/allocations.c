// Preloaded into pawl: fails allocations, from a chosen one on. Those of OpenSSL and of
// the C library themselves are left alone: OpenSSL 3.0 locks a lock that it could not allocate, and
// glibc 2.36 asserts that it could allocate what getpwuid() needs.
//
// PAWL_ALLOC_FIRST    the first allocation that fails, counted from main() on; 0 fails none
// PAWL_ALLOC_LAST     the last one; 0 is for ever
// PAWL_ALLOC_COUNTER  a file of 8 bytes that holds the count, whatever becomes of the process
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static volatile int begun;
static long first, last;
static volatile long own_counter;
static volatile long* counter = &own_counter;

static struct { uintptr_t from, to; } spared[2];  // where their code is
static int spared_count;

static int find_spared(struct dl_phdr_info* library, size_t size, void* nothing) {
  const char* name = library->dlpi_name;
  if (name == NULL || spared_count == 2) return 0;
  if (strstr(name, "/libcrypto.so") == NULL && strstr(name, "/libc.so") == NULL) return 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &library->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0) continue;
    spared[spared_count].from = library->dlpi_addr + part->p_vaddr;
    spared[spared_count].to = spared[spared_count].from + part->p_memsz;
    ++spared_count;
    break;
  }
  return 0;
}

__attribute__((constructor)) static void begin(void) {
  const char* text;
  if ((text = getenv("PAWL_ALLOC_FIRST"))) first = atol(text);
  if ((text = getenv("PAWL_ALLOC_LAST"))) last = atol(text);
  if ((text = getenv("PAWL_ALLOC_COUNTER"))) {
    const int fd = open(text, O_RDWR | O_CLOEXEC);
    void* page = fd < 0 ? MAP_FAILED : mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED) counter = page;
    if (fd >= 0) close(fd);
  }
  dl_iterate_phdr(find_spared, NULL);
  unsetenv("LD_PRELOAD");  // The tools that pawl starts have memory.
}

// What fails before main() is no business of the program's.
typedef int Main(int, char**, char**);
static Main* program;

static int begin_main(int count, char** words, char** environment) {
  begun = 1;
  return program(count, words, environment);
}

int __libc_start_main(Main* main, int count, char** words, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void* stack_end) {
  int (*start)(Main*, int, char**, void (*)(void), void (*)(void), void (*)(void), void*) =
      dlsym(RTLD_NEXT, "__libc_start_main");
  program = main;
  return start(begin_main, count, words, init, fini, rtld_fini, stack_end);
}

static int fails(const void* caller) {
  if (!begun) return 0;
  for (int i = 0; i < spared_count; ++i) {
    if ((uintptr_t)caller >= spared[i].from && (uintptr_t)caller < spared[i].to) return 0;
  }
  const long number = __sync_add_and_fetch(counter, 1);
  if (first == 0 || number < first || (last != 0 && number > last)) return 0;
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void* realloc(void* old, size_t size) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

void* memalign(size_t alignment, size_t size) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void** result, size_t alignment, size_t size) {
  void* block = memalign(alignment, size);
  if (block == NULL) return ENOMEM;
  *result = block;
  return 0;
}
