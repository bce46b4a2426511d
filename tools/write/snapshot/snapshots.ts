/** The committed snapshots of every deployed contract's interface and storage, and the present snapshots. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Abi } from "viem";
import { describeAbi, describeStorage, type StorageLayout } from "./interface.ts";

/** Where each contract that is deployed stands. */
const CONTRACTS = [
  "game/DisputeGame",
  "game/ProofChecker",
  "market/JobMarket",
  "market/MarketDeployer",
  "market/MarketExtension",
  "market/ProofExtension",
  "attestation/Exams",
  "extras/pledge/ClaimsDeployer",
  "extras/pledge/ExamClaims",
  "extras/pledge/PledgedClaims",
  "attestation/Provisioning",
  "attestation/tdx/TdxQuoteVerifier",
  "attestation/tdx/TdxReader",
  "extras/tickets/Tickets",
  "extras/panel/Panel",
  "extras/validator/RefuteValidator",
  "vault/StakeVault",
  "examples/TextDirectionDapp",
  "examples/WrappedEther",
  "verifier/Elementary",
  "verifier/StepVerifier",
];

type Output = { abi: Abi; storageLayout: StorageLayout; transientStorageLayout: StorageLayout };
type Compiled = {
  contracts?: Record<string, Record<string, Output>>;
  errors?: { severity: string; message: string }[];
};

/** Returns each present snapshot, by path. Compiles without generating code: a matter of seconds, without a build. */
export function takeSnapshots(read = (path: string): string => readFileSync(path, "utf8")): Map<string, string> {
  const paths = CONTRACTS.map((contract) => `contracts/${contract}.sol`);
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(paths.map((path) => [path, { content: read(path) }])),
    settings: {
      evmVersion: "osaka",
      remappings: ["@openzeppelin/=node_modules/@openzeppelin/"],
      outputSelection: { "*": { "*": ["abi", "storageLayout", "transientStorageLayout"] } },
    },
  };
  const solc = createRequire(import.meta.url)("solc") as { compile(input: string, imports: object): string };
  const imports = { import: (path: string) => ({ contents: read(path) }) };
  const { contracts, errors = [] } = JSON.parse(solc.compile(JSON.stringify(input), imports)) as Compiled;
  const failures = errors.filter(({ severity }) => severity === "error");
  if (failures.length > 0)
    throw new Error(`the contracts do not compile: ${failures.map((e) => e.message).join("; ")}`);
  return new Map(
    paths.map((path) => {
      const name = path
        .split("/")
        .at(-1)!
        .replace(/\.sol$/, "");
      return [`test/contracts/snapshots/${name}.txt`, render(contracts![path]![name]!)];
    }),
  );
}

/** Returns the differing lines between a committed and a present snapshot; none if equal. */
export function differences(committed: string, now: string): string[] {
  const [before, after] = [committed.split("\n"), now.split("\n")];
  const lines = [
    ...before.filter((line) => !after.includes(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`),
  ];
  return lines.length > 0 || committed === now ? lines : ["the order of the lines"];
}

function render({ abi, storageLayout, transientStorageLayout }: Output): string {
  const parts = { ABI: describeAbi(abi), Storage: describeStorage(storageLayout) };
  const transient = describeStorage(transientStorageLayout);
  const sections = Object.entries(transient.length > 0 ? { ...parts, "Transient storage": transient } : parts);
  return sections.map(([title, lines]) => `${title}\n${lines.map((line) => `  ${line}\n`).join("")}`).join("\n");
}
