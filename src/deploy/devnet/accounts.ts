import { toHex, type Hex } from "viem";
import { mnemonicToAccount, type HDAccount } from "viem/accounts";

/** The chain's id that development nodes have by default. */
export const CHAIN_ID = 31_337;

/** The words of development nodes: everybody knows the keys that they give. */
const MNEMONIC = "test test test test test test test test test test test junk";

/** An account that a development node gives ether. @param index From 0 to 9. */
export const developmentAccount = (index: number): HDAccount => mnemonicToAccount(MNEMONIC, { addressIndex: index });

/** Its private key. */
export const developmentKey = (index: number): Hex => toHex(developmentAccount(index).getHdKey().privateKey!);

/** The accounts of who answers with signed claims, and of the gateway that buys from it (`refute devnet --text`). */
export const TEXT_PARTIES = { worker: 7, gateway: 8 } as const;
/** What a local market gives each account that the user names, ether. */
export const FUNDED_ETHER = 100;

/** The account of a worker that a user of a local market runs. It has ether. */
export const OWN_WORKER = 6;

/**
 * The accounts with which the page's playground lies and watches (docs/web.md): a local market makes the one a worker
 * with stake, and gives the other credit.
 */
export const PLAYGROUND = { worker: 4, watcher: 5 } as const;
