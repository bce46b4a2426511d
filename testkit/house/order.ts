/**
 * The rooms of the code, from the ground up: a file may import files from its own room and from earlier rooms. A file
 * belongs to the longest entry that contains the file. Loose files in a room with an inner order are free within the
 * room.
 */
const COMPILER = [
  ...["expressions", "steps", "lowering", "operators", "bounded", "gradients", "table", "decisions", "graph", "passes"],
  ...["training", "wraps"],
];
const EXECUTOR = ["engine", "memory", "loops", "product", "plan", "threads", "items"];

export const TYPESCRIPT: readonly string[] = [
  "src/base",
  "src/numerics",
  "src/program",
  "src/model",
  ...COMPILER.map((name) => `src/compiler/${name}`),
  "src/compiler",
  ...EXECUTOR.map((name) => `src/executor/${name}`),
  "src/executor",
  "src/native",
  "src/chain",
  "src/dispute",
  "src/runs",
  "src/attestation",
  "src/parties/role",
  "watcher",
  "src/parties/worker",
  "src/parties/requester",
  "src/parties/dispatcher",
  "src/parties/tickets",
  "src/parties/gateway",
  "src/deploy",
  "src/circuits",
  "src/examine",
  "src/package",
  "src/cli",
  "testkit",
  "web",
  "tools",
];

export const SOLIDITY: readonly string[] = [
  "contracts/types/Semantics.sol",
  "contracts/interfaces/IStepVerifier.sol",
  "contracts/interfaces/IClasses.sol",
  "contracts/merkle",
  "contracts/verifier",
  "contracts/types",
  "contracts/interfaces",
  "contracts/program",
  "contracts/vault",
  "contracts/attestation",
  "contracts/attestation/tdx",
  "contracts/game",
  "contracts/market",
  "contracts/extras/pledge",
  "contracts/extras/tickets",
  "contracts/consumer",
  "contracts/extras/panel",
  "contracts/extras/validator",
  "contracts/extras/proofs",
  "contracts/examples",
  "contracts/test",
];

/** Rooms whose loose files may import the room's folders and may be imported by the room's folders. */
const FREE_WITHIN = ["src/compiler", "src/executor"];

/** The place of a file in an order; -1 if the order has no place for the file. */
export function placeOf(order: readonly string[], file: string): number {
  const holders = order.filter((entry) => file === entry || file.startsWith(`${entry}/`));
  return order.indexOf(holders.reduce((a, b) => (b.length > a.length ? b : a), ""));
}

/** Whether an import from one file to another keeps an order. */
export function keepsOrder(order: readonly string[], from: string, to: string): boolean {
  const [own, other] = [placeOf(order, from), placeOf(order, to)];
  if (other <= own) return true;
  return FREE_WITHIN.some((room) => order[other] === room && from.startsWith(`${room}/`));
}
