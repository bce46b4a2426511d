/** Reads functions of the compiler's intermediate code, and refuses by name parts of the language without a reading. */

/** Code without a translation. The message names the reason. */
export class Refused extends Error {}

export type Expression =
  | { readonly kind: "number"; readonly value: bigint }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "call"; readonly name: string; readonly args: readonly Expression[] };

export type Statement =
  | Readonly<{ kind: "set"; isNew: boolean; names: readonly string[]; values: readonly Expression[] }>
  | { readonly kind: "block"; readonly body: readonly Statement[] }
  /** The first case whose number equals the value; a case without a number is the last. */
  | { readonly kind: "switch"; readonly value: Expression; readonly cases: readonly Case[] }
  | { readonly kind: "leave" };
type Case = { readonly number: bigint | undefined; readonly body: readonly Statement[] };

export type YulFunction = {
  readonly parameters: readonly string[];
  readonly results: readonly string[];
  readonly body: readonly Statement[];
};

const TOKEN = /\/\/\/?[^\n]*|\/\*[^]*?\*\/|"(?:[^"\\]|\\.)*"|:=|->|[{}(),]|0x[0-9a-fA-F]+|\d+|[\w$.]+|\S/g;
const ZERO: Expression = { kind: "number", value: 0n };

/**
 * Reads a function of words. @param text Starts behind the word `function`.
 * @throws Refused for a loop, a text, or a call without a result: such a call writes, reverts or returns.
 */
export function readFunction(text: string): { readonly name: string } & YulFunction {
  const tokens = (text.match(TOKEN) ?? []).filter((token) => !/^\/[/*]/.test(token));
  let at = 0;
  const peek = (): string => tokens[at] ?? "the end";
  const take = (wanted?: string): string => {
    const token = peek();
    if (wanted !== undefined && token !== wanted) throw new Refused(`${token} where ${wanted} stands`);
    at += 1;
    return token;
  };
  const skip = (wanted: string): boolean => peek() === wanted && take() === wanted;
  const names = (end: string): string[] => {
    const all: string[] = [];
    while (peek() !== end) {
      all.push(take());
      if (!skip(",")) break;
    }
    return all;
  };

  function expression(): Expression {
    const token = take();
    if (/^\d/.test(token)) return { kind: "number", value: BigInt(token) };
    if (token.startsWith('"')) throw new Refused(`the text ${token}`);
    if (!skip("(")) return { kind: "name", name: token };
    const args: Expression[] = [];
    while (!skip(")")) {
      args.push(expression());
      skip(",");
    }
    return { kind: "call", name: token, args };
  }

  function block(): Statement[] {
    const body: Statement[] = [];
    take("{");
    while (!skip("}")) body.push(statement());
    return body;
  }

  function statement(): Statement {
    if (peek() === "{") return { kind: "block", body: block() };
    const token = take();
    if (["for", "break", "continue", "function"].includes(token)) throw new Refused(`the word ${token}`);
    if (token === "leave") return { kind: "leave" };
    if (token === "if") {
      const value = expression();
      return {
        kind: "switch",
        value,
        cases: [
          { number: 0n, body: [] },
          { number: undefined, body: block() },
        ],
      };
    }
    if (token === "switch") return branches();
    if (token === "let") {
      const all = names(":=");
      return { kind: "set", isNew: true, names: all, values: skip(":=") ? [expression()] : all.map(() => ZERO) };
    }
    if (peek() === "(") throw new Refused(`a call of ${token} without a result`);
    const rest = skip(",") ? names(":=") : [];
    take(":=");
    return { kind: "set", isNew: false, names: [token, ...rest], values: [expression()] };
  }

  function branches(): Statement {
    const value = expression();
    const cases: Case[] = [];
    while (skip("case")) cases.push({ number: BigInt(take()), body: block() });
    cases.push({ number: undefined, body: skip("default") ? block() : [] });
    return { kind: "switch", value, cases };
  }

  const name = take();
  take("(");
  const parameters = names(")");
  take(")");
  const results = skip("->") ? names("{") : [];
  return { name, parameters, results, body: block() };
}
