/** The most that 32-bit addresses reach: 4 GiB in pages of 64 KiB. */
export const MAX_PAGES = 65536;
export const PAGE_BYTES = 65536;

/** A memory that kernels compute in: shared, so that worker threads may, too. It holds nothing at first and grows. */
export const kernelMemory = (pages = 0): WebAssembly.Memory =>
  new WebAssembly.Memory({ initial: pages, maximum: MAX_PAGES, shared: true });
