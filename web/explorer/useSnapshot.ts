import { useEffect, useState } from "preact/hooks";
import type { Snapshot } from "../../src/chain/market/session.ts";
import { followTarget, type Followed, type Target } from "./deployment.ts";

/** What is known of a deployment, and how the last request went. */
type Live = {
  followed?: Followed;
  /** What was read last; it stays while the node does not answer. */
  snapshot?: Snapshot;
  error?: unknown;
};

const INTERVAL_MS = 2_000;

/**
 * Follows a deployment while the page that asks is shown, and asks nothing while its tab is hidden.
 * @param key A new value begins again.
 */
export function useSnapshot(target: Target | undefined, key: number): Live {
  const [live, setLive] = useState<Live>({});
  useEffect(() => {
    setLive({});
    if (target === undefined) return;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let followed: Followed | undefined;
    const ask = async (): Promise<void> => {
      try {
        if (document.visibilityState === "visible" || followed === undefined) {
          followed ??= await followTarget(target);
          const snapshot = await followed.follow();
          if (!isOver) setLive({ followed, snapshot });
        }
      } catch (error) {
        if (!isOver) setLive((before) => ({ ...before, error }));
      }
      if (!isOver) timer = setTimeout(() => void ask(), INTERVAL_MS);
    };
    void ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [target?.rpc, target?.market, target?.fromBlock, key]);
  return live;
}
