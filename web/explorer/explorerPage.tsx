import { useState } from "preact/hooks";
import { shown } from "../format.ts";
import { routeHash } from "../route.ts";
import { Failure, Loading } from "../ui/states.tsx";
import { isAgreed, targetOf, type Target } from "./deployment.ts";
import { useTitle } from "../ui/useTitle.ts";
import { Opened } from "./opened.tsx";
import { formKey, TargetForm } from "./targetForm.tsx";
import { useSnapshot } from "./useSnapshot.ts";
import type { PageProps } from "../pageProps.ts";

/** Jobs, claims and disputes of a deployment. */
export function ExplorerPage({ route }: PageProps) {
  const [tries, setTries] = useState(0);
  useTitle("Open a market");
  let target: Target | undefined;
  let wrong: unknown;
  try {
    target = targetOf(route.query);
  } catch (error) {
    wrong = error;
  }
  const retry = (): void => setTries(tries + 1);
  const asked = target !== undefined && isAgreed(target) ? target : undefined;
  const live = useSnapshot(asked, tries);
  if (asked === undefined)
    return (
      <div class="stack">
        <div class="stack-tight">
          <h1>Open a market</h1>
          <p class="soft">Jobs, claims and disputes, read from a node of the chain as they happen.</p>
        </div>
        {wrong !== undefined && <Failure error={wrong} />}
        {target !== undefined && (
          <p>
            This link names the node at <strong>{shown(new URL(target.rpc).host)}</strong>. It will see that you ask,
            and what is shown is what it says. Open it only if you trust it.
          </p>
        )}
        <TargetForm key={formKey(route)} route={route} onAgreed={retry} />
        {target === undefined && (
          <p class="soft">
            No node at hand? <a href={routeHash(["playground", "iris"])}>Try a model in this page</a>, or start a chain
            of your own with{" "}
            <code>
              npx refute-ml devnet <span class="whole">--model MODEL.onnx</span> <span class="whole">--liar</span>
            </code>
            : it prints both values.
          </p>
        )}
      </div>
    );
  if (live.snapshot === undefined || live.followed === undefined)
    return (
      <div class="stack">
        {live.error === undefined ? (
          <Loading what={`Reading the market from ${asked.rpc}`} />
        ) : (
          <Failure error={live.error} onRetry={retry} />
        )}
        {live.error !== undefined && <TargetForm key={formKey(route)} route={route} onAgreed={retry} />}
      </div>
    );
  return (
    <div class="stack">
      {live.error !== undefined && <Failure error={live.error} onRetry={retry} />}
      <Opened route={route} target={asked} followed={live.followed} snapshot={live.snapshot} />
    </div>
  );
}
