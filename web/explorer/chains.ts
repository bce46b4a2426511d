/** Chains with their names, and the sites that show their blocks. */
const CHAINS: Readonly<Record<number, readonly [name: string, site: string]>> = {
  1: ["Ethereum", "https://etherscan.io"],
  10: ["OP Mainnet", "https://optimistic.etherscan.io"],
  8_453: ["Base", "https://basescan.org"],
  42_161: ["Arbitrum One", "https://arbiscan.io"],
  11_155_111: ["Sepolia", "https://sepolia.etherscan.io"],
};

/** A chain by its name, if the name is known, and its number. */
export const chainText = (chainId: number): string => {
  const [name] = CHAINS[chainId] ?? [];
  return name === undefined ? String(chainId) : `${name} (${chainId})`;
};

/** Where a site shows a transaction or an address. @returns undefined if no site of the chain is known */
export const placeOf = (chainId: number, kind: "tx" | "address", value: string): string | undefined => {
  const [, site] = CHAINS[chainId] ?? [];
  return site && `${site}/${kind}/${encodeURIComponent(value)}`;
};
