/** A compiled contract, as Hardhat writes it. */
export type PackedArtifact = {
  sourceName: string;
  contractName: string;
  bytecode: string;
  deployedBytecode: string;
  abi: readonly unknown[];
};

export const PACKED: string;
export function sourcesHash(root?: string): string;
export function compressed(value: unknown): Buffer;
export function packArtifacts(hash: string, artifacts: readonly PackedArtifact[]): Buffer;
export function readPacked(root?: string): { hash: string; artifacts: PackedArtifact[] };
export function unpackArtifacts(root?: string): boolean;
