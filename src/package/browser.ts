/** `refute-ml/browser`: what requesters of results need, for bundlers: no compiler, nothing of Node. */
export * from "./requester.ts";
