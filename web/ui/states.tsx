import type { ComponentChildren } from "preact";
import { shown } from "../format.ts";

/** What is shown where there is nothing yet: why, and what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <h2>{title}</h2>
      {children !== undefined && <p class="soft">{children}</p>}
    </div>
  );
}

/** What is shown while something is fetched or computed. */
export function Loading({ what }: { what: string }) {
  return (
    <div class="state" role="status">
      <div class="pulse" />
      <p class="soft">{what}</p>
    </div>
  );
}

/** What is shown instead of what failed. The message may hold text from outside. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  const message = error instanceof Error ? error.message : String(error);
  // Libraries add what they sent, line by line: nobody who looks at a page can use that.
  const [line = ""] = message.split("\n");
  return (
    <div class="state failure" role="alert">
      <h2>This did not work</h2>
      <p>{shown(line, 1_000)}</p>
      {onRetry !== undefined && (
        <button class="button" type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
