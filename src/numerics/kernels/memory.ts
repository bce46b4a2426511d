/** The maximum that 32-bit addresses reach: 4 GiB in pages of 64 KiB. */
export const MAX_PAGES = 65536;
export const PAGE_BYTES = 65536;

/** A memory that kernels compute in. It is shared with worker threads; it starts with `pages` pages and can grow. */
export const kernelMemory = (pages = 0): WebAssembly.Memory =>
  new WebAssembly.Memory({ initial: pages, maximum: MAX_PAGES, shared: true });
