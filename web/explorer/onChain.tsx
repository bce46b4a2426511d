import { Hex } from "../ui/hex.tsx";
import { placeOf } from "./chains.ts";

type Props = { chainId: number; kind: "tx" | "address"; value: string };

/** A transaction or an address, with a link to a site that shows the chain, if there is one. */
export function OnChain({ chainId, kind, value }: Props) {
  const place = placeOf(chainId, kind, value);
  return (
    <>
      <Hex value={value} />
      {place !== undefined && (
        <a href={place} target="_blank" rel="noopener noreferrer" aria-label={`${value} at ${new URL(place).host}`}>
          ↗
        </a>
      )}
    </>
  );
}
