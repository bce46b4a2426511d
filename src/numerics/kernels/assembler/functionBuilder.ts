import { typeCode, type ValueType } from "./control.ts";
import { flatten, sized, unsigned, vector, type Code } from "./encoding.ts";

/** A parameter or local variable. */
export type Local = {
  type: ValueType;
  get: Code;
  set: (value: Code) => Code;
  /** Sets it and leaves the value on the stack. */
  tee: (value: Code) => Code;
};

/** A function's type. */
export type Signature = { parameters: readonly ValueType[]; results: readonly ValueType[] };

/** Puts a function together: parameters first, further locals as they are needed, then the statements in order. */
export class FunctionBuilder {
  readonly signature: Signature;
  readonly parameters: readonly Local[];
  readonly #locals: ValueType[] = [];
  readonly #body: Code[] = [];
  #bytes: readonly number[] | undefined;

  constructor(parameters: readonly ValueType[], ...results: readonly ValueType[]) {
    this.signature = { parameters, results };
    this.parameters = parameters.map((type, index) => variable(type, index));
  }

  /** A new local variable, at first 0. */
  local(type: ValueType): Local {
    this.#locals.push(type);
    return variable(type, this.parameters.length + this.#locals.length - 1);
  }

  /** Appends code to the body; the last piece leaves the results. */
  emit(...code: Code[]): this {
    this.#body.push(...code);
    return this;
  }

  /** The function's locals and code. */
  bytes(): readonly number[] {
    const locals = this.#locals.map((type): Code => [1, typeCode(type)]);
    return (this.#bytes ??= flatten([vector(locals), this.#body, 0x0b]));
  }

  /** The function's entry in the code section. */
  encode(): Code {
    return sized(this.bytes());
  }
}

function variable(type: ValueType, index: number): Local {
  const at = unsigned(index);
  return { type, get: [0x20, at], set: (value) => [value, 0x21, at], tee: (value) => [value, 0x22, at] };
}
