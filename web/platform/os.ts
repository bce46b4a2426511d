/** What compiler and executor use of `node:os`, in a page. */
export const availableParallelism = (): number => navigator.hardwareConcurrency;

/** Bytes of memory that are reckoned with: pages are told less than there is. */
export const totalmem = (): number => 4 * 2 ** 30;

/** That of WebAssembly, which is what executes here. */
export const endianness = (): string => "LE";
