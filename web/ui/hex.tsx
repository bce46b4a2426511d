import { useState } from "preact/hooks";
import { short } from "../format.ts";

/** A hash or an address, shortened; a click copies the whole. */
export function Hex({ value }: { value: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => {
    void navigator.clipboard?.writeText(value).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1_200);
    });
  };
  return (
    <button class="button quiet mono" type="button" title={`${value}: copy`} onClick={copy}>
      {isCopied ? "copied" : short(value)}
    </button>
  );
}
