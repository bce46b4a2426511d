import { parseAbi } from "viem";
export const errorsAbi = parseAbi(["error Placeholder()"]);
