/** The parts of the WebAssembly API used here; TypeScript declares them for browsers only. */
declare namespace WebAssembly {
  /** Whether the bytes are a module that the engine can compile. */
  function validate(bytes: Uint8Array): boolean;

  type Imports = Record<string, Record<string, Memory | ((...values: never[]) => unknown)>>;

  class Memory {
    constructor(limits: { initial: number; maximum: number; shared: boolean });
    readonly buffer: SharedArrayBuffer;
    /** Adds pages of 64 KiB; returns how many there were. */
    grow(pages: number): number;
  }

  class Module {
    constructor(bytes: Uint8Array);
    readonly name?: never;
  }

  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: Readonly<Record<string, unknown>>;
  }
}
