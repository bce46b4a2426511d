/** A page starts no threads of Node: the executor computes in the one that it is called in. */
export class Worker {
  constructor() {
    throw new Error("a page has no threads of Node");
  }
}

export const workerData = undefined;
