// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Pick} from "../types/GameState.sol";

/// @title The gas prices of moves. The challenger's bond pays for a worker's moves; a dying claim's collateral pays for
/// a challenger's own moves.
/// @dev A move is paid the gas that its transaction burns, measured by the contract, up to the price listed here. A
/// price lies slightly above the gas burnt with zero-free calldata: a lower price would starve honest players.
///
/// Measured on the game of test/contracts/game/gasSchedule.test.ts: 16 checkpoints, 16 steps and 16 chunks, which give
/// every reveal 16 children. The game is the claim's first and fills empty storage. Its test
/// `moves_inFullLists_costAtMostTheirPrice_andNotMuchLess` holds each price of a move between the transaction's burnt
/// gas and 5 % more. All constants are in gas, except where noted. src/dispute/moveGas.ts has the same constants;
/// test/dispute/worstDispute.test.ts compares them.
library GasSchedule {
    /* ---- Prices of moves ---- */

    /// @dev An opening at the run root: claim and pick in calldata, the bond, the game's and the claim's words.
    /// Measured: the test game's `open`, less four levels and the crossing.
    uint256 private constant OPEN = 112_000;
    /// @dev A pick, without its levels. Measured: both picks of that game.
    uint256 private constant PICK = 52_000;
    /// @dev Crossing into another list, besides the levels of the program's lists and the header. Measured: the test
    /// game's opening and first pick; `pick_fromTheTraceStraightToATensor_isPaidAsBurnt` crosses twice at once.
    uint256 private constant SEAM = 6_200;
    /// @dev A sibling of a path: 32 bytes of calldata and a hash. Measured: the moves of that game with paths.
    uint256 private constant LEVEL = 800;
    /// @dev A reveal of a chunk: 512 bytes of calldata, their log and hash. Measured: the last reveal of that game.
    uint256 internal constant CHUNK = 60_900;
    /// @dev An expansion, without children and levels. Measured: the test game's `expand`, and from an answer's output
    /// into the longest run, with 24 levels, which cost more than the few levels of picks:
    /// test/contracts/game/answerGas.test.ts.
    uint256 private constant EXPAND = 51_500;
    /// @dev A reveal, without its children. Measured: the first reveal of that game, of 16 children.
    uint256 private constant REVEAL = 46_600;
    /// @dev A child: 32 bytes of calldata, their log and a hash. Measured: the reveal and the expansion of 16.
    uint256 private constant CHILD = 1_115;
    /// @dev A byte of a program's header, at the calldata floor (EIP-7623) for nonzero bytes.
    uint256 private constant HEADER_BYTE = 40;

    /* ---- Prices of ends ---- */

    /// @dev The gas that an end, by which the claim dies, burns after its measurement: the game's record, and payments
    /// to the winner and to a sink that have credit. `PAY`: a payment more, to a caller that is not the winner.
    /// `DEATH`: the death's record, if other games are open. `SINK_PAY`: less, for a worker's later claims behind one
    /// pledge, whose rest goes back to the pledge. Measured: `prove_isPaidAtWhatItCosts` and
    /// `timeout_isPaidAtWhatItCosts` of gasSchedule.test.ts, and stoppedWorker.test.ts.
    uint256 internal constant DEATH_END = 31_000;
    uint256 internal constant PAY = 9_000;
    uint256 internal constant DEATH = 22_300;
    uint256 internal constant SINK_PAY = 3_700;
    /// @dev The most that a timeout is paid, if the claim dies by the timeout; the flat reward if the challenger loses.
    /// It exceeds the gas burnt by a call that fills empty accounts.
    uint256 internal constant TIMEOUT = 150_000;
    /// @dev What a step proof may be paid above the estimate in the header, which has the game's part in it
    /// (src/program/gas.ts): a margin. `proofThatBurnsMoreThanItsPrice_isPaidItsPrice` of
    /// test/contracts/game/gasPrices.test.ts.
    uint256 internal constant PROVE_MARGIN = 200_000;
    /// @dev `SETTLE`: the most that is paid for recovering a challenger's bond after the claim's death in another game.
    /// `LAST`: more for the last such call, which pays the remainder to the sink. A claim's death sets these prices
    /// aside. Measured: three games on one claim, in a chunk of an item of a run, also for a claimed answer:
    /// `settle_whereAGameStandsInAChunk...` of test/contracts/game/runGas.test.ts.
    uint256 private constant SETTLE = 59_500;
    uint256 private constant LAST = 8_100;
    /// @dev The gas that a settlement burns outside the measured part: before its first line, for the records, and for
    /// the payment to a challenger with credit. `LAST_END`: more for the payment to the sink, less the refund for the
    /// deleted record. `SETTLE_PLEDGED`: less, for claims behind a pledge, whose contract pays in fewer steps.
    /// Measured: settlement.test.ts and stoppedWorker.test.ts.
    uint256 internal constant SETTLE_END = 23_875;
    uint256 internal constant LAST_END = 7_950;
    uint256 internal constant SETTLE_PLEDGED = 455;
    /// @dev The reward for freeing an abandoned job, flat. The call burns 69,000 at least (docs/economics.md).
    uint256 internal constant EXPIRE = 100_000;

    /* ---- What a move burns unmeasured ---- */

    /// @dev The gas that a move's transaction burns outside the measured part (`paid`): before the move's first line,
    /// and for writing and logging the new state. `OPEN_END`: an opening. `MOVE_END`: another move. `LOGGED`: extra for
    /// logging children or a chunk. `LOGGED_BYTE`: extra per logged byte, 8 for the log and the rest for copies.
    /// Measured: test/contracts/game/gasPrices.test.ts holds a move's paid gas between its burnt gas and 700 more,
    /// gas.test.ts an opening's between its burnt gas and 2 % more.
    uint256 internal constant OPEN_END = 25_850;
    uint256 internal constant MOVE_END = 11_600;
    uint256 private constant LOGGED = 418;
    uint256 private constant LOGGED_BYTE = 9;

    /* ---- The largest games ---- */

    /// @dev Longest header among served programs, bytes.
    uint256 internal constant MAX_HEADER = 2_048;
    /// @dev Assumed levels in the largest games: 4 for an answer's outputs, 16 for items, 12 for checkpoints, 12 for
    /// steps, 20 for chunks.
    uint256 private constant LEVELS_ANSWER = 4;
    uint256 private constant LEVELS_RUN = 16;
    uint256 private constant LEVELS_TRACE = 12;
    uint256 private constant LEVELS_INTERIOR = 12;
    uint256 private constant LEVELS_TENSOR = 20;
    /// @dev Levels of a program's own lists of steps and checkpoints.
    uint256 private constant LEVELS_STEPS = 24;

    /* ---- A transaction's gas: EIP-7623 ---- */

    uint256 private constant TRANSACTION = 21_000;
    /// @dev Standard price and floor price of a calldata byte.
    uint256 private constant NONZERO_BYTE = 16;
    uint256 private constant ZERO_BYTE = 4;
    uint256 private constant NONZERO_FLOOR = 40;
    uint256 private constant ZERO_FLOOR = 10;

    /// @dev Calldata that `_nonzeroBytes` counts at once: 252 words.
    uint256 private constant COUNTED_BYTES = 8_064;

    /* ---- Functions ---- */

    /// @notice The price paid for a unit of gas: the wanted price, at most `cap`. The price is at least 1 if the cap
    /// allows, because eth_estimateGas runs with a base fee of 0 and must see the same storage writes.
    /// @param wanted Smallest units of the stake asset per unit of gas, like `cap` and the result.
    function price(uint256 wanted, uint256 cap) internal pure returns (uint256) {
        if (wanted > cap) return cap;
        // Gas estimation takes the longest path.
        if (wanted != 0) return wanted;
        return cap == 0 ? 0 : 1;
    }

    /// @notice Gas of revealing `2^hop` children.
    function reveal(uint256 hop) internal pure returns (uint256) {
        return REVEAL + (CHILD << hop);
    }

    /// @notice Gas of opening a game `levels` below the run root.
    function open(uint256 levels) internal pure returns (uint256) {
        return OPEN + LEVEL * levels;
    }

    /// @notice Gas of recovering a bond from a dead claim; the last recovery if no game is left afterwards.
    function settle(uint256 left) internal pure returns (uint256) {
        return left == 0 ? SETTLE + LAST : SETTLE;
    }

    /// @notice Gas of settling all `games` that a claim's death leaves behind.
    function settlements(uint256 games) internal pure returns (uint256) {
        return games == 0 ? 0 : SETTLE * games + LAST;
    }

    /// @notice The maximum price per unit of gas in the next block (EIP-1559), capped by `price`.
    function nextPrice(uint256 cap) internal view returns (uint256) {
        return price(block.basefee + block.basefee / 8 + 1, cap);
    }

    /// @notice Gas of a pick of `levels` levels.
    function pick(uint256 levels) internal pure returns (uint256) {
        return PICK + LEVEL * levels;
    }

    /// @notice Gas of crossing into another list with a pick.
    function seam(Pick calldata p) internal pure returns (uint256) {
        return _seam(p.checkpoint.siblings.length + p.step.siblings.length, p.program.header.length);
    }

    /// @notice The unmeasured gas of a move that logs `length` bytes of children or chunk.
    function moveEnd(uint256 length) internal pure returns (uint256) {
        return MOVE_END + LOGGED + LOGGED_BYTE * length;
    }

    /// @notice Gas of an expansion with `2^hop` children and a path of `levels` siblings.
    function expand(uint256 hop, uint256 levels) internal pure returns (uint256) {
        return EXPAND + (CHILD << hop) + LEVEL * levels;
    }

    /// @notice The maximum gas that a worker spends in one game with arity 2^k.
    function worstWorker(uint256 k) internal pure returns (uint256) {
        // Each expansion includes its list's first reveal: the expansion from an output into the run (which also shows
        // a checkpoint's path), and the expansion from a range into its interior.
        uint256 reveals =
            _ceil(LEVELS_RUN, k) + _ceil(LEVELS_TRACE, k) + _ceil(LEVELS_INTERIOR, k) - 2 + _ceil(LEVELS_TENSOR, k);
        uint256 expansions = expand(k, LEVELS_RUN + LEVELS_TRACE) + expand(k, LEVELS_INTERIOR);
        return reveals * reveal(k) + expansions + CHUNK + TIMEOUT;
    }

    /// @notice The maximum gas that a challenger spends in one game with arity 2^k and step proofs up to `maxStepGas`.
    function worstChallenger(uint256 k, uint256 maxStepGas) internal pure returns (uint256) {
        uint256 picks =
            _ceil(LEVELS_RUN, k) + _ceil(LEVELS_TRACE, k) + _ceil(LEVELS_INTERIOR, k) + _ceil(LEVELS_TENSOR, k);
        uint256 levels = LEVELS_ANSWER + LEVELS_RUN + LEVELS_TRACE + LEVELS_INTERIOR + LEVELS_TENSOR;
        // At the output, which shows the header alone, at the checkpoint and at the step.
        uint256 seams = _seam(0, MAX_HEADER) + 2 * _seam(2 * LEVELS_STEPS, MAX_HEADER);
        return OPEN + SETTLE + picks * PICK + LEVEL * levels + seams + maxStepGas + PROVE_MARGIN;
    }

    function _seam(uint256 levels, uint256 headerBytes) private pure returns (uint256) {
        return SEAM + LEVEL * levels + HEADER_BYTE * headerBytes;
    }

    /// @notice Returns whether the caller is a plain account: no contract, and no account that delegates to a contract
    /// (EIP-7702).
    function isPlain() internal view returns (bool) {
        // solhint-disable-next-line avoid-tx-origin
        return msg.sender == tx.origin && msg.sender.code.length == 0;
    }

    /// @notice Returns the part of a move's gas that is paid: all gas for a plain account, whose move needs a separate
    /// transaction; nothing for a contract, or for an account that delegates to a contract (EIP-7702).
    function paid(uint256 gas) internal view returns (uint256) {
        // SAFETY: calls in one transaction share the base cost of 21,000 and the warm storage, and only a transaction
        // pays for calldata. Otherwise a caught cheat could play many games against itself in one transaction at half
        // price, and recover money owed to the sink.
        return isPlain() ? gas : 0;
    }

    /// @notice Like `paid`, but never more than the transaction burns.
    /// @param most The move's price, gas.
    /// @param start The gas left when the call began, plus unmeasured gas burnt before.
    function paid(uint256 most, uint256 start) internal view returns (uint256) {
        uint256 gas = paid(most);
        // SAFETY: lengths alone do not determine a move's cost: zeros in calldata and nonempty storage are cheaper. A
        // caught cheat would choose them.
        return gas == 0 ? 0 : Math.min(gas, transactionGas(start));
    }

    /// @notice Gas of this transaction if called from outside: EIP-7623's rule. `start` has the same meaning as in
    /// `paid`.
    function transactionGas(uint256 start) internal view returns (uint256) {
        unchecked {
            uint256 others = _nonzeroBytes();
            uint256 zeros = msg.data.length - others;
            uint256 used = start - gasleft() + NONZERO_BYTE * others + ZERO_BYTE * zeros;
            return TRANSACTION + Math.max(used, NONZERO_FLOOR * others + ZERO_FLOOR * zeros);
        }
    }

    /// @dev Counts nonzero calldata bytes, a word at a time, four words per turn. Past its end, calldata reads zero.
    /// The 32 bytes of one word hold the counts, which overflow after 255 words. The function therefore collects the
    /// counts every 63 turns, after 252 words of 32 bytes.
    function _nonzeroBytes() private pure returns (uint256 others) {
        assembly ("memory-safe") {
            // Masks for each byte of a word: its lower seven bits, and its lowest bit. The lower byte of each pair.
            let low := 0x7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f
            let ones := 0x0101010101010101010101010101010101010101010101010101010101010101
            let pairs := 0x00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff
            let size := calldatasize()
            let offset := 0
            for {} lt(offset, size) {} {
                // The end of these 63 turns, or of the calldata.
                let end := add(offset, COUNTED_BYTES)
                if gt(end, size) {
                    end := size
                }
                let counts := 0
                for {} lt(offset, end) {
                    offset := add(offset, 0x80)
                } {
                    // One is put into each nonzero byte: either the byte's lower seven bits plus 127 carry into the
                    // eighth bit, or the eighth bit was set already. Written out four times: the compiler inlines a
                    // function here or does not, by what other code there is.
                    let word := calldataload(offset)
                    counts := add(counts, and(shr(7, or(add(and(word, low), low), word)), ones))
                    word := calldataload(add(offset, 0x20))
                    counts := add(counts, and(shr(7, or(add(and(word, low), low), word)), ones))
                    word := calldataload(add(offset, 0x40))
                    counts := add(counts, and(shr(7, or(add(and(word, low), low), word)), ones))
                    word := calldataload(add(offset, 0x60))
                    counts := add(counts, and(shr(7, or(add(and(word, low), low), word)), ones))
                }
                // Adds bytes to pairs, then the sixteen pairs to one number of 16 bits.
                counts := add(and(counts, pairs), and(shr(8, counts), pairs))
                others := add(
                    others,
                    shr(240, mul(counts, 0x0001000100010001000100010001000100010001000100010001000100010001))
                )
            }
        }
    }

    function _ceil(uint256 levels, uint256 k) private pure returns (uint256) {
        return (levels + k - 1) / k;
    }
}
