// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface Vm {
    function accesses(address target) external returns (bytes32[] memory reads, bytes32[] memory writes);
    function coinbase(address who) external;
    function etch(address target, bytes calldata code) external;
    function readFileBinary(string calldata path) external view returns (bytes memory);
    function record() external;
    function toString(uint256 value) external pure returns (string memory);
    function writeFileBinary(string calldata path, bytes calldata data) external;
    function writeLine(string calldata path, string calldata line) external;
}

/// @title Makes recorded calls in a Solidity test, because a Solidity test's chain runs fastest.
/// @dev replay.ts defines the files.
contract Replay {
    /// @dev A recorded call. Creates `data` if `to` is 0. Words `ignored` of the result measure gas.
    struct Call {
        uint256 chain;
        address to;
        bool reverts;
        bytes4[] errors;
        uint256[] ignored;
        bytes returned;
        bytes data;
    }

    struct Attempt {
        uint256 call;
        uint256 gasLimit;
    }

    /// @dev The attempts under one coinbase, up to the first call with another outcome.
    struct Group {
        address coinbase;
        Attempt[] attempts;
    }

    Vm private constant VM = Vm(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);
    /// @dev Where execution reports places.
    address private constant LISTENER = 0xc0bEc0BEc0BeC0bEC0beC0bEC0bEC0beC0beC0BE;

    /// @dev The recorded chain with its contracts in place, plus one.
    uint256 private current;
    /// @dev The recorded chains' contracts, created in this test.
    mapping(uint256 chain => address[]) private created;

    function test_replay() external {
        // Reads what is reported, which `VM` sees.
        VM.etch(LISTENER, hex"5f355400");
        (bool heard, Group[] memory groups) = abi.decode(VM.readFileBinary("replay/plan.bin"), (bool, Group[]));
        for (uint256 g = 0; g < groups.length; ++g) {
            VM.coinbase(groups[g].coinbase);
            Attempt[] memory attempts = groups[g].attempts;
            uint256 k = 0;
            for (; k < attempts.length; ++k) {
                // Another frame's memory is gone afterwards.
                (bool right, uint256 used) = heard
                    ? this.hear(attempts[k], groups[g].coinbase)
                    : this.attempt(attempts[k]);
                if (heard) _write(attempts[k].call, right ? used : 0);
                else if (!right) break;
            }
            if (!heard) _write(g, k);
        }
    }

    function attempt(Attempt calldata which) external returns (bool right, uint256 used) {
        Call memory call = _prepare(which.call);
        return _make(call, which.gasLimit);
    }

    /// @dev Makes a call with coinbase 0, then again to note the execution's reports.
    function hear(Attempt calldata which, address coinbase) external returns (bool right, uint256 used) {
        Call memory call = _prepare(which.call);
        VM.coinbase(address(0));
        if (coinbase != address(0)) (right, used) = _make(call, which.gasLimit);
        VM.coinbase(coinbase);
        VM.record();
        if (coinbase == address(0)) (right, used) = _make(call, which.gasLimit);
        else _make(call, which.gasLimit);
        (bytes32[] memory reads, ) = VM.accesses(LISTENER);
        VM.writeFileBinary(string.concat("replay/heard-", VM.toString(which.call), ".bin"), abi.encode(reads));
    }

    function _prepare(uint256 number) private returns (Call memory call) {
        string memory file = string.concat("replay/call-", VM.toString(number), ".bin");
        call = abi.decode(VM.readFileBinary(file), (Call));
        _enter(call.chain);
    }

    function _make(Call memory call, uint256 gasLimit) private returns (bool right, uint256 used) {
        uint256 before = gasleft();
        (bool ok, bytes memory returned) = call.to == address(0)
            ? _create(call.data)
            : call.to.staticcall{gas: gasLimit}(call.data);
        used = before - gasleft();
        right = ok != call.reverts && (ok ? _same(call, returned) : _oneOf(call.errors, bytes4(returned)));
    }

    /// @dev Puts the contracts of a recorded chain where they were.
    function _enter(uint256 chain) private {
        if (current == chain + 1) return;
        current = chain + 1;
        (address[] memory places, bytes[] memory codes) = abi.decode(
            VM.readFileBinary(string.concat("replay/chain-", VM.toString(chain), ".bin")),
            (address[], bytes[])
        );
        for (uint256 k = 0; k < places.length; ++k) {
            if (created[chain].length == k) {
                (bool ok, bytes memory returned) = _create(codes[k]);
                require(ok, "a recorded contract is not created");
                created[chain].push(abi.decode(returned, (address)));
            }
            VM.etch(places[k], created[chain][k].code);
        }
    }

    function _create(bytes memory code) private returns (bool ok, bytes memory returned) {
        address made;
        assembly ("memory-safe") {
            made := create(0, add(code, 0x20), mload(code))
        }
        ok = made != address(0);
        if (ok) return (ok, abi.encode(made));
        assembly ("memory-safe") {
            returned := mload(0x40)
            mstore(returned, returndatasize())
            returndatacopy(add(returned, 0x20), 0, returndatasize())
            mstore(0x40, add(returned, and(add(returndatasize(), 0x3f), not(0x1f))))
        }
    }

    function _same(Call memory call, bytes memory returned) private pure returns (bool) {
        bytes memory expected = call.returned;
        if (returned.length != expected.length) return false;
        for (uint256 k = 0; k < call.ignored.length; ++k) {
            uint256 offset = 0x20 * (call.ignored[k] + 1);
            assembly ("memory-safe") {
                mstore(add(returned, offset), mload(add(expected, offset)))
            }
        }
        return keccak256(returned) == keccak256(expected);
    }

    function _oneOf(bytes4[] memory errors, bytes4 error_) private pure returns (bool) {
        for (uint256 k = 0; k < errors.length; ++k) if (errors[k] == error_) return true;
        return false;
    }

    function _write(uint256 which, uint256 what) private {
        VM.writeLine("replay/out.txt", string.concat(VM.toString(which), " ", VM.toString(what)));
    }
}
