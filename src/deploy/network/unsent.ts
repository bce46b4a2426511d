import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { wipe } from "@nomicfoundation/ignition-core";
import type { Address, PublicClient } from "viem";
import { artifactResolver } from "../../chain/market/artifacts.ts";
import { DeployFailedError } from "./errors.ts";

type Entry = { type: string; futureId: string; networkInteractionId: number; nonce: number };

/**
 * Forgets a journal's prepared but unsent transactions, unless the chain has transactions in their place. An earlier
 * run was interrupted before sending. Ignition continues in neither case.
 * @throws DeployFailedError if a prepared transaction was sent
 */
export async function forgetUnsent(journal: string, publicClient: PublicClient, address: Address): Promise<void> {
  const path = join(journal, "journal.jsonl");
  if (!existsSync(path)) return;
  const unsent = new Map<string, Entry>();
  for (const line of readFileSync(path, "utf8")
    .split("\n")
    .filter((text) => text.trim() !== "")) {
    const entry = JSON.parse(line) as Entry;
    const key = `${entry.futureId} ${entry.networkInteractionId}`;
    if (entry.type === "TRANSACTION_PREPARE_SEND") unsent.set(key, entry);
    if (entry.type === "TRANSACTION_SEND") unsent.delete(key);
    if (entry.type === "WIPE_APPLY")
      for (const [other, { futureId }] of unsent) if (futureId === entry.futureId) unsent.delete(other);
  }
  const next = await publicClient.getTransactionCount({ address, blockTag: "pending" });
  for (const { futureId, nonce } of unsent.values()) {
    if (nonce < next)
      throw new DeployFailedError(
        `the account sent a transaction with nonce ${nonce}, which the journal ${journal} has as prepared for ` +
          `${futureId} only: start anew with another --folder`,
      );
    await wipe(journal, artifactResolver, futureId);
  }
}
