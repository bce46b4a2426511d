// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ClaimGames} from "../../contracts/lib/ClaimGames.sol";
import {ProtocolHarness} from "../../contracts/test/ProtocolMocks.sol";
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

    /// @dev A thousand bytes and more that are not zero: the floor is above what is burnt, and what is burnt beside it hides below it.
    function testFuzz_calldataFloor_isPaid_notTheGasBelowIt(uint8 more, uint16 rest) external view {
        bytes memory data = new bytes(2_800 + uint256(more));
        for (uint256 i = 0; i < data.length; ++i) data[i] = 0xff;
        bytes memory call = abi.encodeCall(ProtocolHarness.calldataGas, (data, rest));
        uint256 zeros;
        for (uint256 i = 0; i < call.length; ++i) if (call[i] == 0) ++zeros;
        require(_harness.calldataGas(data, rest) == 21_000 + 40 * (call.length - zeros) + 10 * zeros, "the floor");
    }

    function testFuzz_gas_isPaidAsBurnt_upToThePrice(uint32 most, uint32 rest) external {
        vm.prank(address(0xe0a), address(0xe0a));
        uint256 paid = _harness.paidAtMost(most, rest);
        require(paid <= most && (paid == most || (paid >= rest + 21_000 && paid <= uint256(rest) + 25_000)), "paid");
        require(_harness.paidAtMost(most, rest) == 0, "a contract");
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

    function _requireFields(ClaimGames g, uint256 open, bool dead, uint256 dues, uint256 earned) private pure {
        require(g.open() == open && g.dead() == dead && g.dues() == dues && g.earned() == earned, "fields");
    }
}
