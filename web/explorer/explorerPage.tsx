import { useState } from "preact/hooks";
import type { PageProps } from "../pages.ts";
import { Failure, Loading } from "../ui/states.tsx";
import { targetOf, type Target } from "./deployment.ts";
import { Opened } from "./opened.tsx";
import { TargetForm } from "./targetForm.tsx";
import { useSnapshot } from "./useSnapshot.ts";

/** Jobs, claims and disputes of a deployment. */
export function ExplorerPage({ route }: PageProps) {
  const [tries, setTries] = useState(0);
  let target: Target | undefined;
  let wrong: unknown;
  try {
    target = targetOf(route.query);
  } catch (error) {
    wrong = error;
  }
  const live = useSnapshot(target, tries);
  if (target === undefined)
    return (
      <div class="stack">
        <div class="stack-tight">
          <h1>Look at a market</h1>
          <p class="soft">
            Jobs, claims and disputes, read from a node of the chain as they happen. To try it on this machine:{" "}
            <code>npm run refute -- devnet --model MODEL.onnx --liar</code>.
          </p>
        </div>
        {wrong !== undefined && <Failure error={wrong} />}
        <TargetForm route={route} />
      </div>
    );
  const retry = (): void => setTries(tries + 1);
  if (live.snapshot === undefined || live.followed === undefined)
    return (
      <div class="stack">
        {live.error === undefined ? (
          <Loading what={`Reading the market from ${target.rpc}`} />
        ) : (
          <Failure error={live.error} onRetry={retry} />
        )}
        {live.error !== undefined && <TargetForm route={route} />}
      </div>
    );
  return (
    <div class="stack">
      {live.error !== undefined && <Failure error={live.error} onRetry={retry} />}
      <Opened route={route} followed={live.followed} snapshot={live.snapshot} />
    </div>
  );
}
