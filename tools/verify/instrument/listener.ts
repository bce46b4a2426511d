/**
 * A Yul function that tells the chain of the tests that execution is at a place. Telling costs a call, which is dear
 * where a loop runs long: a replayed call, which has more gas than any transaction, tells of each place once, and keeps
 * in memory far behind its own of which it has told. The scratch space is put back, because what is in it between two
 * statements is theirs. The names of its variables are such as no contract has, because a function may not hide those.
 */
export const HEAR = `
function listenerHear(listenerId) {
  let listenerCell := add(0x100000, listenerId)
  let listenerReplays := gt(gas(), 500000000)
  if listenerReplays {
    if byte(0, mload(listenerCell)) { leave }
    mstore8(listenerCell, 1)
  }
  let listenerScratch := mload(0)
  mstore(0, listenerId)
  pop(staticcall(gas(), 0xc0bEc0BEc0BeC0bEC0beC0bEC0bEC0beC0beC0BE, 0, 32, 0, 0))
  mstore(0, listenerScratch)
}
`;
