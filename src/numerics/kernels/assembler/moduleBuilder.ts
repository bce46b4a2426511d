import { call, typeCode } from "./control.ts";
import { flatten, name, sized, unsigned, vector, type Code } from "./encoding.ts";
import type { FunctionBuilder, Signature } from "./functionBuilder.ts";

/** A function of the module or an import, to be called from others. */
export type Callable = (...operands: Code[]) => Code;

const MAGIC: Code = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const SHARED = 0x03;
const BOUNDED = 0x01;

const section = (id: number, content: Code): Code => [id, sized(content)];

/**
 * Builds a module from imports and functions, partly exported. The main memory is imported under the name `env.memory`,
 * other memories under other names.
 */
export class ModuleBuilder {
  readonly #types: string[] = [];
  readonly #typeCodes: Code[] = [];
  readonly #imports: Code[] = [];
  readonly #exports: { name: string; function: number }[] = [];
  readonly #functionTypes: Code[] = [];
  readonly #functions: FunctionBuilder[] = [];
  #importedFunctions = 0;
  /** Set when code first calls a function of the module: a later import would change that function's number. */
  #numbered = false;

  /**
   * Memories are numbered as they are imported.
   * @param pages The memory's maximum; the memory given at instantiation must have the same one.
   */
  importMemory(shared: boolean, pages: number, from = "env"): void {
    const limits: Code = [shared ? SHARED : BOUNDED, unsigned(0), unsigned(pages)];
    this.#imports.push([name(from), name("memory"), 0x02, limits]);
  }

  /** Imports a function. All imports come before any code that calls a function of the module. */
  importFunction(from: string, field: string, signature: Signature): Callable {
    if (this.#numbered) throw new RangeError("functions are imported before the first of the module's own is called");
    this.#imports.push([name(from), name(field), 0x00, unsigned(this.#type(signature))]);
    const index = this.#importedFunctions++;
    return (...operands) => call(index, ...operands);
  }

  /** Adds a function, with a name if exported. */
  define(builder: FunctionBuilder, exported?: string): Callable {
    const index = this.#functions.length;
    this.#functions.push(builder);
    this.#functionTypes.push(unsigned(this.#type(builder.signature)));
    if (exported !== undefined) this.#exports.push({ name: exported, function: index });
    return (...operands) => {
      this.#numbered = true;
      return call(this.#importedFunctions + index, ...operands);
    };
  }

  /** The module's bytes. */
  encode(): Uint8Array<ArrayBuffer> {
    const exports = this.#exports.map((entry): Code => {
      return [name(entry.name), 0x00, unsigned(this.#importedFunctions + entry.function)];
    });
    const sections = [
      section(1, vector(this.#typeCodes)),
      section(2, vector(this.#imports)),
      section(3, vector(this.#functionTypes)),
      section(7, vector(exports)),
      section(10, vector(this.#functions.map((builder) => builder.encode()))),
    ];
    return Uint8Array.from(flatten([MAGIC, ...sections]));
  }

  #type({ parameters, results }: Signature): number {
    const key = `${parameters.join()}:${results.join()}`;
    const known = this.#types.indexOf(key);
    if (known !== -1) return known;
    const codes = (types: Signature["parameters"]): Code => vector(types.map((type) => [typeCode(type)]));
    this.#types.push(key);
    this.#typeCodes.push([0x60, codes(parameters), codes(results)]);
    return this.#types.length - 1;
  }
}
