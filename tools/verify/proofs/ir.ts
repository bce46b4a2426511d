/**
 * Translates functions on words from the compiler's unoptimised intermediate code to definitions in Coq over the words
 * of `proofs/Evm.v`: functions without loop, memory and call of another contract.
 */
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { readFunction, Refused, type Expression, type Statement, type YulFunction } from "./yul.ts";

const require = createRequire(import.meta.url);

/** Contracts with all functions of Float32.sol, and with all of Float.sol. */
const HARNESSES = ["Float32Harness", "FloatHarness"];

/** Built-in functions on words, by their names in Evm.v and in Coq. */
const BUILT_IN: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["add", "sub", "mul", "shl", "shr", "lt", "gt", "slt", "sgt", "eq", "iszero", "clz"].map((n) => [n, n]),
  ),
  ...{ and: "Z.land", or: "Z.lor", xor: "Z.lxor", sar: "sarWord" },
};

/** Definitions, callees first, and the reason for each function without one. */
type Translation = {
  readonly text: string;
  readonly defined: readonly string[];
  readonly refused: Readonly<Record<string, string>>;
};

/** The intermediate code of the test contracts, and Solidity's names, `Library.function`, by the tree's numbers. */
export function compiledIr(): { readonly code: string; readonly names: ReadonlyMap<string, string> } {
  const solc = require("solc") as { compile: (input: string, callbacks: object) => string };
  const paths = HARNESSES.map((name) => `contracts/test/${name}.sol`);
  const read = (path: string): { contents: string } => ({ contents: readFileSync(path, "utf8") });
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(paths.map((path) => [path, { content: read(path).contents }])),
    settings: {
      evmVersion: "osaka",
      outputSelection: {
        "*": { "": ["ast"] },
        ...Object.fromEntries(paths.map((path) => [path, { "*": ["ir"], "": ["ast"] }])),
      },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: read })) as {
    readonly contracts: Readonly<Record<string, Readonly<Record<string, { readonly ir: string }>>>>;
    readonly sources: Readonly<Record<string, { readonly ast: unknown }>>;
  };
  const names = new Map<string, string>();
  for (const { ast } of Object.values(output.sources)) collectNames(ast, "", names);
  const code = paths.map((path, k) => output.contracts[path]![HARNESSES[k]!]!.ir).join("\n");
  return { code, names };
}

function collectNames(tree: unknown, library: string, names: Map<string, string>): void {
  if (Array.isArray(tree)) for (const each of tree) collectNames(each, library, names);
  if (typeof tree !== "object" || tree === null || Array.isArray(tree)) return;
  const { nodeType, name, id } = tree as { nodeType?: string; name?: string; id?: number };
  const home = nodeType === "ContractDefinition" ? String(name) : library;
  if (nodeType === "FunctionDefinition" || nodeType === "VariableDeclaration") names.set(String(id), `${home}_${name}`);
  for (const each of Object.values(tree)) collectNames(each, home, names);
}

/** Translates functions, `Library_function`, and their callees. */
export function translate(wanted: readonly string[], { code, names } = compiledIr()): Translation {
  const texts = new Map<string, string>();
  const nameOf = (name: string): string => {
    const found = /^(?:fun|constant)_.*?_(\d+)(_wrapping)?$/.exec(name);
    const known = found === null ? undefined : names.get(found[1]!);
    return known === undefined ? name : `${known}${found![2] ?? ""}`;
  };
  // A second contract repeats the functions of the first.
  for (const part of code.split(/^ *function (?=[\w$.]+\()/m).slice(1)) texts.set(nameOf(part.split("(")[0]!), part);
  const done = new Map<string, string>();
  const refused: Record<string, string> = {};

  function define(name: string): void {
    if (done.has(name)) return;
    if (refused[name] !== undefined) throw new Refused(refused[name]);
    const text = texts.get(name);
    try {
      if (text === undefined) throw new Refused(`the built-in function ${name}`);
      const definition = definitionOf(name, readFunction(text), (callee) => {
        if (BUILT_IN[callee] !== undefined) return BUILT_IN[callee];
        define(nameOf(callee));
        return asName(nameOf(callee));
      });
      done.set(name, definition);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refused[name] = error.message.includes(" in ") ? error.message : `${error.message} in ${name}`;
      throw new Refused(refused[name]);
    }
  }

  for (const name of wanted)
    try {
      define(name);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
  const defined = [...done.keys()];
  // The compiler's own functions and constants: a proof unfolds them.
  const helpers = defined.filter((name) => !wanted.includes(name)).map(asName);
  const tactic = `Ltac helpers := cbv beta zeta delta [${helpers.join(" ")}].`;
  const head = "Require Import ZArith Evm Signed.\nOpen Scope Z_scope.";
  return { text: `${[head, ...done.values(), tactic].join("\n")}\n`, defined, refused };
}

/** Coq has no dollar and no dot in names. */
const asName = (name: string): string => name.replaceAll("$", "'").replaceAll(".", "''");
const listed = (terms: readonly string[]): string => (terms.length === 1 ? terms[0]! : `(${terms.join(", ")})`);
const tuple = (names: readonly string[]): string => listed(names.map(asName));

/** A definition in Coq. Each assignment is a `let`; behind a branch with `leave`, each way has the rest. */
function definitionOf(
  name: string,
  { parameters, results, body }: YulFunction,
  callee: (name: string) => string,
): string {
  if (results.length === 0) throw new Refused("no result");

  const term = (given: Expression): string => {
    if (given.kind === "number") return String(given.value);
    if (given.kind === "name") return asName(given.name);
    return `(${[callee(given.name), ...given.args.map(term)].join(" ")})`;
  };
  const bind = (names: readonly string[], value: string): string =>
    `let ${names.length === 1 ? "" : "'"}${tuple(names)} := ${value} in`;

  function sequence([first, ...rest]: readonly Statement[], end: () => string): string {
    if (first === undefined) return end();
    const next = (): string => sequence(rest, end);
    switch (first.kind) {
      case "leave":
        return tuple(results);
      case "block":
        return sequence(first.body, next);
      case "set":
        return `${bind(first.names, listed(first.values.map(term)))}\n  ${next()}`;
      case "switch": {
        const bodies = first.cases.map((each) => each.body);
        if (bodies.some(leaves)) return ways(first, next);
        const changed = [...new Set(bodies.flatMap(changedBy))];
        if (changed.length === 0) return next();
        return `${bind(changed, `(${ways(first, () => tuple(changed))})`)}\n  ${next()}`;
      }
    }
  }

  function ways({ value, cases }: Extract<Statement, { kind: "switch" }>, end: () => string): string {
    return cases
      .map(({ number, body }) => {
        const way = sequence(body, end);
        return number === undefined ? way : `if ${term(value)} =? ${number} then ${way}\n  else `;
      })
      .join("");
  }

  const start = results.map((result) => `${bind([result], "0")} `).join("");
  const head = parameters.length === 0 ? "" : ` (${parameters.map(asName).join(" ")} : Z)`;
  const type = results.map(() => "Z").join(" * ");
  return `Definition ${asName(name)}${head} : ${type} :=\n  ${start}${sequence(body, () => tuple(results))}.`;
}

const leaves = (body: readonly Statement[]): boolean =>
  body.some((each) => {
    if (each.kind === "block") return leaves(each.body);
    return each.kind === "switch" ? each.cases.some((way) => leaves(way.body)) : each.kind === "leave";
  });

/** Outer variables set by statements. */
function changedBy(body: readonly Statement[]): string[] {
  const own = new Set<string>();
  return body.flatMap((each) => {
    if (each.kind === "set" && each.isNew) for (const name of each.names) own.add(name);
    const set =
      each.kind === "set"
        ? each.names
        : each.kind === "block"
          ? changedBy(each.body)
          : each.kind === "switch"
            ? each.cases.flatMap((way) => changedBy(way.body))
            : [];
    return set.filter((name) => !own.has(name));
  });
}
