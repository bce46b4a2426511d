/**
 * A Yul function reporting the executed code point to the tests' chain. A report is a call, expensive in a long loop. A
 * replayed call, with more gas than any transaction, therefore reports each point once, and marks the reported points
 * in memory far behind the contract's own. The function restores the scratch space, because the surrounding statements
 * may use the space. The function's variables have names found in no contract, because Yul forbids shadowing.
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
