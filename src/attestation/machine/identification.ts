import { encodeAbiParameters, hexToBytes, type Hex } from "viem";
import { ZERO_HASH } from "../../chain/structs.ts";
import { sha256, toHex } from "../../program/merkle/bytes.ts";
import { fromHash } from "../../program/merkle/hash.ts";
import { MerkleList } from "../../program/merkle/list.ts";
import { judgeAccelerators } from "./accelerators.ts";
import { judgeProcessors } from "./processors.ts";
import { LAYERS, type MachineObservation } from "./observation.ts";
import { look, THIS_MACHINE, type Sources } from "./sources.ts";
import type { MachinePart } from "./part.ts";

/**
 * The machine's class, by its computing hardware. `accelerators`: every accelerator has a name of its own.
 * `processors`: the machine has no accelerator. `unidentified`: an accelerator has no name, or nothing is known about
 * the hardware.
 */
type MachineClass = "accelerators" | "processors" | "unidentified";

/** The reported facts about a machine, and the oddities found. */
export type Identification = {
  class: MachineClass;
  parts: (Omit<MachinePart, "uuid"> & { uuid: Hex })[];
  /** The Merkle root of the parts' leaves: what the device signs. */
  root: Hex;
  /** Disagreements between sources. They are no proof of a lie: containers have them too. */
  warnings: string[];
};

/** Identifies a machine. @param domain `domainOf` the deployment, which UUIDs are hashed with. */
export const identify = async (domain: Hex, sources: Sources = THIS_MACHINE): Promise<Identification> =>
  identificationOf(await look(sources), domain);

/** Derives the reported identification from an observation. Pure. */
export function identificationOf(seen: MachineObservation, domain: Hex): Identification {
  const processors = judgeProcessors(seen.processors);
  const accelerators = judgeAccelerators(seen.accelerators);
  const parts = [processors.part, ...accelerators.parts].map((part) => ({ ...part, uuid: hashOf(part.uuid, domain) }));
  const leaves = parts.map(leafOf);
  // Sources have no order of their own.
  const root = new MerkleList(Buffer.concat(leaves.sort((a, b) => Buffer.compare(a, b)))).root;
  const warnings = [...processors.warnings, ...accelerators.warnings];
  return { class: classOf(processors.part, accelerators.parts), parts, root, warnings };
}

function classOf(processors: MachinePart, accelerators: readonly MachinePart[]): MachineClass {
  if (accelerators.length === 0) return processors.device === "" ? "unidentified" : "processors";
  return accelerators.every(({ uuid }) => uuid !== "") ? "accelerators" : "unidentified";
}

/**
 * Hashes a UUID with the deployment's domain. A UUID has 122 random bits: nobody finds the UUID from its hash, and
 * nobody can compare the hashes from two deployments.
 */
function hashOf(uuid: string, domain: Hex): Hex {
  if (uuid === "") return ZERO_HASH;
  return toHex(sha256(Buffer.from("refute uuid 1"), fromHash(domain), Buffer.from(uuid)));
}

const LEAF = ["string", "string", "string", "string", "bytes32", "uint64", "uint32", "uint8"].map((type) => ({ type }));

/**
 * Returns a leaf: SHA-256 over the ABI-encoded `"refute leaf 1"` and part. Layers are bits, with the user's layer
 * lowest.
 */
function leafOf({ kind, vendor, device, uuid, memoryMiB, units, layers }: Identification["parts"][number]): Uint8Array {
  const bits = layers.reduce((sum, layer) => sum | (1 << LAYERS.indexOf(layer)), 0);
  const fields = ["refute leaf 1", kind, vendor, device, uuid, BigInt(memoryMiB), units, bits];
  return sha256(hexToBytes(encodeAbiParameters(LEAF, fields)));
}
