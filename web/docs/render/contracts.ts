import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { toFunctionSignature, type Abi, type AbiFunction, type AbiParameter } from "viem";
import { escapeMarkdown } from "./markdown.ts";
import { ROOT } from "./root.ts";

/** What callers of the contracts see. */
const SOURCES = ["contracts/interfaces/*.sol", "contracts/consumer/ResultConsumer.sol"];

type Docs = { details?: string; notice?: string; params?: Record<string, string>; returns?: Record<string, string> };
type Contract = {
  abi: Abi;
  devdoc: { title?: string; details?: string; methods?: Record<string, Docs> };
  userdoc: { notice?: string; methods?: Record<string, Docs> };
};
type Listed = Extract<Abi[number], { type: "event" | "error" }>;
type Answer = {
  contracts?: Record<string, Record<string, Contract>>;
  errors?: { severity: string; message: string }[];
};

/** The contracts by their NatSpec, as the compiler reads it. @throws Error with what the compiler says */
export function contractsPage(): string {
  const paths = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).sort();
  const compiled = compile(paths);
  const sections = paths.map((path) => {
    const name = path.replace(/^.*\/|\.sol$/g, "");
    return contractSection(name, path, compiled[path]![name]!);
  });
  const about = "What the contracts say of themselves: their NatSpec, functions, events and errors.";
  return ["# Contracts", about, ...sections].join("\n\n");
}

function compile(paths: readonly string[]): Record<string, Record<string, Contract>> {
  const solc = createRequire(import.meta.url)("solc") as { compile(input: string, callbacks: object): string };
  const read = (path: string): string =>
    readFileSync(join(ROOT, path.startsWith("@") ? "node_modules" : "", path), "utf8");
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(paths.map((path) => [path, { content: read(path) }])),
    settings: { outputSelection: { "*": { "*": ["abi", "devdoc", "userdoc"] } } },
  };
  const callbacks = { import: (path: string) => ({ contents: read(path) }) };
  const { contracts, errors = [] } = JSON.parse(solc.compile(JSON.stringify(input), callbacks)) as Answer;
  const failed = errors.filter(({ severity }) => severity === "error").map(({ message }) => message);
  if (failed.length > 0 || contracts === undefined)
    throw new Error(`the contracts do not compile: ${failed.join("; ")}`);
  return contracts;
}

function contractSection(name: string, path: string, { abi, devdoc, userdoc }: Contract): string {
  const functions = abi
    .filter((item) => item.type === "function")
    .map((item) => functionSection(name, item, devdoc, userdoc));
  const listed = (type: "event" | "error"): string[] => {
    const isListed = (item: Abi[number]): item is Listed => item.type === type;
    const lines = abi.filter(isListed).map(({ name: own, inputs }) => `- \`${own}(${typed(inputs)})\``);
    return lines.length === 0 ? [] : [type === "event" ? "Events:" : "Errors:", lines.join("\n")];
  };
  const about = [devdoc.title, userdoc.notice, devdoc.details].filter((text) => text !== undefined);
  return [
    `## ${name}`,
    `\`${path}\``,
    ...about.map(escapeMarkdown),
    ...functions,
    ...listed("event"),
    ...listed("error"),
  ].join("\n\n");
}

function functionSection(
  contract: string,
  item: AbiFunction,
  devdoc: Contract["devdoc"],
  userdoc: Contract["userdoc"],
): string {
  const signature = toFunctionSignature(item);
  const { details, params = {}, returns = {} } = devdoc.methods?.[signature] ?? {};
  const notice = userdoc.methods?.[signature]?.notice;
  const mutability = item.stateMutability === "nonpayable" ? "" : ` ${item.stateMutability}`;
  const outputs = item.outputs.length === 0 ? "" : ` returns (${typed(item.outputs)})`;
  // In the order of the signature: the compiler has them by their names.
  const places = [...item.inputs, ...item.outputs].map(({ name: own = "" }) => own);
  const values = Object.entries({ ...params, ...returns }).sort(([a], [b]) => places.indexOf(a) - places.indexOf(b));
  return [
    `### ${contract}.${item.name}`,
    `\`${item.name}(${typed(item.inputs)})${mutability}${outputs}\``,
    ...[notice, details].filter((text) => text !== undefined).map(escapeMarkdown),
    values
      .map(([own, text]) => `- ${/^_\d/.test(own) ? "returned" : `\`${own}\``}: ${escapeMarkdown(text)}`)
      .join("\n"),
  ].join("\n\n");
}

/** Parameters as the source has them: `Job job, bytes32 root`. */
const typed = (parameters: readonly AbiParameter[]): string =>
  parameters
    .map(({ type, internalType = type, name = "" }) => `${internalType.replace(/^\w+ /, "")} ${name}`.trim())
    .join(", ");
