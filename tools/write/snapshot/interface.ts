/** A contract's outside interface and storage, in text form: reviews show every change. */
import { toEventSelector, toFunctionSelector, toFunctionSignature, keccak256, toHex, type Abi } from "viem";
import { signatures } from "../abis.ts";

type Variable = { label: string; offset: number; slot: string; type: string };
type StorageType = { label: string; numberOfBytes: string; members?: Variable[] };

/** solc's `storageLayout` and `transientStorageLayout`. `types` is null where nothing is stored. */
export type StorageLayout = { storage: Variable[]; types: Record<string, StorageType> | null };

/** Returns one line per error, event or function, after the selector; the structs used come last. */
export function describeAbi(abi: Abi): string[] {
  const structs = new Set<string>();
  const lines = abi.map((item) => {
    const all = signatures([item]);
    for (const line of all.slice(0, -1)) structs.add(line);
    const line = all.at(-1)!;
    if (item.type === "function") return `${toFunctionSelector(item)} ${line}`;
    if (item.type === "event") return `${toEventSelector(item).slice(0, 10)} ${line}`;
    if (item.type !== "error") return `           ${line}`;
    const signature = toFunctionSignature({ ...item, type: "function", outputs: [], stateMutability: "view" });
    return `${keccak256(toHex(signature)).slice(0, 10)} ${line}`;
  });
  return [...lines.sort(byText), ...[...structs].sort().map((line) => `           ${line}`)];
}

/** One line a variable: slot, first byte in it, bytes, type, name; then the structs that are stored. */
export function describeStorage({ storage, types }: StorageLayout): string[] {
  const all = types ?? {};
  const line = ({ slot, offset, type, label }: Variable): string => {
    const { label: name, numberOfBytes } = all[type]!;
    return `slot ${slot} byte ${offset}, ${numberOfBytes} bytes: ${name} ${label}`;
  };
  const structs = Object.values(all)
    .filter(({ members }) => members !== undefined)
    .map(({ label, members }) => [label, ...members!.map((member) => `  ${line(member)}`)]);
  return [...storage.map(line), ...structs.sort((a, b) => byText(a[0]!, b[0]!)).flat()];
}

const byText = (a: string, b: string): number => (a.slice(11) < b.slice(11) ? -1 : 1);
