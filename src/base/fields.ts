import { isHex, size, type Hex } from "viem";
import type { RefuteError } from "./errors.ts";

/** Makes the error of what a document lacks. */
type RefusalClass = new (message: string, options?: ErrorOptions) => RefuteError;

/** An object of a JSON document from outside. Errors name the faulty value by its path in the document. */
export class Fields {
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #path: string;
  readonly #refusal: RefusalClass;

  /**
   * @param path The object's name in its document: a file's name, or `outputs[0]`.
   * @param refusal The type of the errors.
   * @throws The refusal, if the value is no object
   */
  constructor(value: unknown, path: string, refusal: RefusalClass) {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw new refusal(`${path}: expected a JSON object, got ${kindOf(value)}`);
    this.#fields = value as Record<string, unknown>;
    this.#path = path;
    this.#refusal = refusal;
  }

  /** Refuses a field. @param got Shown in place of the value's kind. */
  refuse(name: string, expected: string, got = kindOf(this.#fields[name])): never {
    throw new this.#refusal(`${this.#path}: field "${name}": expected ${expected}, got ${got}`);
  }

  /** Whether a field is there. */
  has = (name: string): boolean => this.#fields[name] !== undefined;

  text(name: string): string {
    const value = this.#fields[name];
    return typeof value === "string" ? value : this.refuse(name, "text");
  }

  /** A whole number from `min` on. */
  count(name: string, min = 0): number {
    const value = this.#fields[name];
    return Number.isSafeInteger(value) && (value as number) >= min
      ? (value as number)
      : this.refuse(name, `a whole number from ${min} on`);
  }

  /** 0x and hexadecimal digits. @param bytes So many; any number if it is left out. */
  hex(name: string, bytes?: number): Hex {
    const value = this.#fields[name];
    const fits = isHex(value) && value.length % 2 === 0 && (bytes === undefined || size(value) === bytes);
    const expected = `0x and ${bytes === undefined ? "an even number of" : 2 * bytes} hexadecimal digits`;
    return fits ? (value.toLowerCase() as Hex) : this.refuse(name, expected);
  }

  /** A number, or text. */
  scalar(name: string): number | string {
    const value = this.#fields[name];
    return typeof value === "number" || typeof value === "string" ? value : this.refuse(name, "a number or text");
  }

  object(name: string): Fields {
    return new Fields(this.#fields[name], `${this.#path}: ${name}`, this.#refusal);
  }

  /** The names of all fields. */
  names = (): string[] => Object.keys(this.#fields);

  /** A list of objects. */
  objects(name: string): Fields[] {
    return this.#list(name).map((item, k) => new Fields(item, `${this.#path}: ${name}[${k}]`, this.#refusal));
  }

  /**
   * Returns a list whose items all have the given type.
   * @param expected A description of the list, for the message.
   */
  list<T>(name: string, isItem: (item: unknown) => item is T, expected: string): readonly T[] {
    const items = this.#list(name);
    return items.every(isItem) ? items : this.refuse(name, expected);
  }

  #list(name: string): readonly unknown[] {
    const value = this.#fields[name];
    return Array.isArray(value) ? value : this.refuse(name, "a list");
  }
}

/** Describes a value in a few words: a short value by the value itself. */
function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value);
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}
