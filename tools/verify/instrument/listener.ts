/**
 * A Yul function that reports to the chain of the tests which point of the code is executed. A report is a call, which
 * is expensive in a long loop. A replayed call, which has more gas than any transaction, therefore reports each point
 * once, and marks the reported points in memory far behind the contract's own. The function restores the scratch space,
 * because the statements around it may use it. Its variables have names that no contract has, because Yul forbids
 * shadowing.
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
