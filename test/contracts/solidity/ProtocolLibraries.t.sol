// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ClaimGames} from "../../../contracts/game/ClaimGames.sol";
import {States} from "../../../contracts/game/States.sol";
import {ProtocolHarness} from "../../../contracts/test/ProtocolMocks.sol";
import {GameState, Level, Move, PackedState, Side} from "../../../contracts/types/GameState.sol";
import {ClaimId} from "../../../contracts/types/Ids.sol";
import {vm} from "./Vm.sol";

/// @notice Libraries against their plainest form.
contract ProtocolLibrariesTest {
    ProtocolHarness private _harness = new ProtocolHarness();

    function testFuzz_parentOf_equalsTheRecursion(bytes32[8] calldata leaves, uint8 levels) external view {
        uint256 count = 1 << (levels % 4);
        bytes memory children;
        bytes32[] memory nodes = new bytes32[](count);
        for (uint256 i = 0; i < count; ++i) {
            nodes[i] = leaves[i];
            children = bytes.concat(children, leaves[i]);
        }
        for (uint256 n = count / 2; n != 0; n /= 2) {
            for (uint256 i = 0; i < n; ++i) nodes[i] = sha256(bytes.concat(nodes[2 * i], nodes[2 * i + 1]));
        }
        require(_harness.parentOf(children) == nodes[0], "parent");
    }

    function testFuzz_tensorRoot_ofTwoChunksPadsWithZeros(bytes32 word, uint16 length) external view {
        uint256 size = 513 + (length % 512);
        bytes memory data = new bytes(size);
        for (uint256 i = 0; i < size; ++i) data[i] = word[i % 32];
        bytes memory first = new bytes(512);
        bytes memory second = new bytes(512);
        for (uint256 i = 0; i < size; ++i) {
            if (i < 512) first[i] = data[i];
            else second[i - 512] = data[i];
        }
        bytes32 pair = sha256(bytes.concat(sha256(first), sha256(second)));
        require(_harness.tensorRoot(data) == pair, "root");
        bytes32 zero = sha256(new bytes(64));
        require(_harness.subtree(data, 2) == sha256(bytes.concat(pair, zero)), "subtree");
    }

    function testFuzz_calldataGas_countsEveryByte_andIsAtLeastTheFloor(bytes calldata data, uint16 rest) external view {
        bytes memory call = abi.encodeCall(ProtocolHarness.calldataGas, (data, rest));
        uint256 zeros;
        for (uint256 i = 0; i < call.length; ++i) if (call[i] == 0) ++zeros;
        uint256 others = call.length - zeros;
        uint256 floor = 21_000 + 40 * others + 10 * zeros;
        uint256 standard = 21_000 + 16 * others + 4 * zeros + rest;
        uint256 counted = _harness.calldataGas(data, rest);
        // The count itself costs gas, about 60 a word.
        require(counted >= floor && counted >= standard, "too little");
        require(counted <= floor || counted <= standard + 1_000 + 3 * call.length, "too much");
    }

    /// @dev So many bytes that are not zero: the floor is above what is burnt, and what is burnt beside it hides below
    /// it.
    function testFuzz_calldataFloor_isPaid_notTheGasBelowIt(uint8 more, uint16 rest) external view {
        bytes memory data = new bytes(3_200 + uint256(more));
        for (uint256 i = 0; i < data.length; ++i) data[i] = 0xff;
        bytes memory call = abi.encodeCall(ProtocolHarness.calldataGas, (data, rest));
        uint256 zeros;
        for (uint256 i = 0; i < call.length; ++i) if (call[i] == 0) ++zeros;
        require(_harness.calldataGas(data, rest) == 21_000 + 40 * (call.length - zeros) + 10 * zeros, "the floor");
    }

    function testFuzz_gas_isPaidAsBurnt_upToThePrice(uint32 price, uint32 rest) external {
        vm.prank(address(0xe0a), address(0xe0a));
        uint256 paid = _harness.paidAtMost(price, rest);
        require(paid <= price && (paid == price || (paid >= rest + 21_000 && paid <= uint256(rest) + 25_000)), "paid");
        require(_harness.paidAtMost(price, rest) == 0, "a contract");
    }

    function testFuzz_gas_isPaidToPlainAccountsOnly(uint256 gas) external {
        require(_harness.paid(gas) == 0, "a contract");
        vm.prank(address(this), address(this));
        require(_harness.paid(gas) == 0, "an account with code");
        vm.prank(address(0xe0a), address(0xe0b));
        require(_harness.paid(gas) == 0, "not the origin");
        vm.prank(address(0xe0a), address(0xe0a));
        require(_harness.paid(gas) == gas, "a plain account");
    }

    /// @dev What solvers are not able to prove: each change of the word touches its own field only.
    function testFuzz_claimGames_fieldsStayApart(
        uint24 open,
        bool dead,
        uint112 dues,
        uint112 earned,
        uint80 amount
    ) external pure {
        open = uint24(1 + (open % (type(uint24).max - 1)));
        dues = uint112(amount + (dues % (type(uint112).max - 2 * uint256(amount))));
        earned = uint112(earned % (type(uint112).max - uint256(amount)));
        uint256 word = open | (dead ? 1 << 24 : 0) | (uint256(dues) << 32) | (uint256(earned) << 144);
        ClaimGames g = ClaimGames.wrap(word);
        _requireFields(g, open, dead, dues, earned);
        _requireFields(g.opened(), uint256(open) + 1, dead, dues, earned);
        _requireFields(g.closed(), open - 1, dead, dues, earned);
        _requireFields(g.killed(), open, true, dues, earned);
        _requireFields(g.addDues(amount), open, dead, uint256(dues) + amount, earned);
        _requireFields(g.subtractDues(amount), open, dead, dues - amount, earned);
        _requireFields(g.withDues(amount), open, dead, amount, earned);
        _requireFields(g.addEarned(amount), open, dead, dues, uint256(earned) + amount);
        _requireFields(g.collected(), open, dead, dues, 0);
    }

    /// @dev Every field with bits anywhere in its width: each has its own place, none is cut, none is lost.
    function testFuzz_states_fieldsStayApart(bytes32 seed) external view {
        GameState memory s = _stateOf(seed);
        PackedState memory p = States.pack(s, s.move);
        require(p.claimId == s.claimId && p.programRoot == s.programRoot, "claim, program");
        require(p.node == s.node && p.traceRoot == s.traceRoot && p.interiorRoot == s.interiorRoot, "nodes");
        require(p.runRoot == s.runRoot, "run");
        uint256 place = _field(_field(uint256(uint8(s.move)), 32, s.number), 16, s.tailBytes);
        place = _field(_field(_field(place, 32, s.step), 32, s.last), 32, s.first);
        place = _field(_field(_field(place, 8, uint8(s.turn)), 8, uint8(s.level)), 8, s.depth);
        require(p.place == _field(_field(place, 32, s.width), 32, s.index), "place");
        require(p.party == _field(s.bond, 160, uint160(s.challenger)), "party");
        uint256 clock = _field(_field(uint256(s.checkpoints), 16, s.item), 96, s.spent);
        clock = _field(_field(clock, 40, s.since), 32, s.challengerSeconds);
        require(p.clock == _field(clock, 32, s.workerSeconds), "clock");
        require(keccak256(abi.encode(this.unpack(p))) == keccak256(abi.encode(s)), "unpacked");
        require(States.hash(p) == keccak256(abi.encode(p)), "hash");
    }

    /// @dev Two states that differ in one bit have two hashes.
    function testFuzz_states_everyBitCounts(bytes32 seed, uint8 word, uint8 bit) external pure {
        PackedState memory p = States.pack(_stateOf(seed), Move.Pick);
        bytes32 before = States.hash(p);
        uint256 offset = 32 * (uint256(word) % 9);
        assembly ("memory-safe") {
            mstore(add(p, offset), xor(mload(add(p, offset)), shl(bit, 1)))
        }
        require(States.hash(p) != before, "hash");
    }

    function unpack(PackedState calldata p) external pure returns (GameState memory) {
        return States.unpack(p);
    }

    /// @dev A field below those that are there.
    function _field(uint256 above, uint256 bits, uint256 value) private pure returns (uint256) {
        require(value >> bits == 0, "too wide");
        return above * 2 ** bits + value;
    }

    function _stateOf(bytes32 seed) private pure returns (GameState memory s) {
        uint256[25] memory words;
        for (uint256 i = 0; i < 25; ++i) {
            words[i] = uint256(keccak256(abi.encode(seed, i)));
            // Often all bits of a field or none.
            if (words[i] % 4 == 0) words[i] = type(uint256).max;
            else if (words[i] % 4 == 1) words[i] = 0;
        }
        s.claimId = ClaimId.wrap(bytes32(words[0]));
        s.programRoot = bytes32(words[1]);
        s.node = bytes32(words[2]);
        s.interiorRoot = bytes32(words[3]);
        s.challenger = address(uint160(words[4]));
        (s.bond, s.spent, s.since) = (uint96(words[5]), uint96(words[6]), uint40(words[7]));
        (s.workerSeconds, s.challengerSeconds) = (uint32(words[8]), uint32(words[9]));
        (s.depth, s.runRoot, s.tailBytes) = (uint8(words[10]), bytes32(words[11]), uint16(words[12]));
        (s.level, s.turn, s.move) = (Level(words[13] % 6), Side(words[14] % 2), Move(words[15] % 4));
        (s.number, s.index, s.width) = (uint32(words[16]), uint32(words[17]), uint32(words[18]));
        (s.first, s.last, s.step) = (uint32(words[19]), uint32(words[20]), uint32(words[21]));
        (s.traceRoot, s.item, s.checkpoints) = (bytes32(words[22]), uint16(words[23]), uint32(words[24]));
    }

    function _requireFields(ClaimGames g, uint256 open, bool dead, uint256 dues, uint256 earned) private pure {
        require(g.open() == open && g.dead() == dead && g.dues() == dues && g.earned() == earned, "fields");
    }
}
