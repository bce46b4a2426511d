import { getAddress, hexToBytes, type Address, type Hex, type PublicClient } from "viem";
import { contractArtifact, type ContractName } from "../../chain/market/artifacts.ts";

/** The positions of a contract's immutables in the contract's code, from the artifacts, by ascending numbers. */
type Places = Readonly<Record<string, readonly { start: number; length: number }[]>>;

/**
 * Returns the immutables of a contract on chain, if the address has the code of a contract of the package with any
 * immutables; else undefined. The order is that of the declarations: by the path of the file, then by the line.
 * Immutables that the code never reads are left out. All places of an immutable must have one value. The comparison
 * omits the source metadata that the compiler appends, because comments change the metadata.
 * @throws DeployParametersError if the contract is not compiled; the node's errors
 */
export async function immutablesOf(
  publicClient: PublicClient,
  name: ContractName,
  address: Address,
): Promise<bigint[] | undefined> {
  const found = await publicClient.getCode({ address: getAddress(address) });
  const { deployedBytecode, immutableReferences } = contractArtifact(name) as {
    deployedBytecode: Hex;
    immutableReferences?: Places;
  };
  const places = Object.values(immutableReferences ?? {});
  const compared = (code: Hex): string => {
    const bytes = hexToBytes(code);
    for (const { start, length } of places.flat()) bytes.fill(0, start, start + length);
    // The last two bytes hold the length of the appended metadata (docs.soliditylang.org, "Contract Metadata").
    const appended = bytes.length < 2 ? 0 : bytes.at(-2)! * 256 + bytes.at(-1)! + 2;
    return Buffer.from(bytes.subarray(0, Math.max(0, bytes.length - appended))).toString("hex");
  };
  if (found === undefined || compared(found) !== compared(deployedBytecode)) return undefined;
  const wordAt = ({ start, length }: { start: number; length: number }): bigint =>
    BigInt(`0x${found.slice(2 + 2 * start, 2 + 2 * (start + length))}`);
  const immutables = places.map((all) => [...new Set(all.map(wordAt))]);
  return immutables.every(({ length }) => length === 1) ? immutables.flat() : undefined;
}
