// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IProvisioning, Reason} from "../../../contracts/interfaces/IProvisioning.sol";
import {RegistryHandler} from "./RegistryHandler.t.sol";
import {Shipped} from "./Shipped.sol";
import {vm} from "./Vm.sol";

/// @notice Whatever is called on the registry, over random sequences of calls: every lie in its window can be refuted.
contract RegistryInvariants {
    RegistryHandler private _handler;

    function setUp() external {
        _handler = new RegistryHandler();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handler);
    }

    function invariant_everyLieCanBeRefuted() external view {
        require(_handler.immortal() == 0, "a lie could not be refuted");
        require(_handler.honestDied() == 0, "an honest claim died by a proof");
        require(_handler.unsettled() == 0, "a game of a dead claim cannot be settled");
        require(_handler.wrongPayouts() == 0, "an end of a game paid something else");
        require(_handler.leasesAreExclusive(), "a device backs two workers");
    }

    /// @dev Once for each sequence.
    function afterInvariant() external {
        _handler.refuteLies();
        this.invariant_everyLieCanBeRefuted();
    }

    /// @dev Checks of the handler: these sequences reach what it is for.
    function test_lie_isRefuted_afterItsWorkersDeviceIsFrozenRetiredOrReleased() external {
        for (uint8 how = 0; how < 3; ++how) {
            _handler.postJob(0, 5, false);
            _handler.claimJob(how + 1, how);
            _handler.submitJob(how, true);
            if (how == 0) _handler.makeStatement(0, 2, how + 1, true);
            else if (how == 1) _handler.retireKey(how + 1);
            else _handler.releaseWorker(how + 1);
        }
        Reason[3] memory reasons = [Reason.DeviceFrozen, Reason.KeyRetired, Reason.NoDevice];
        for (uint8 how = 0; how < 3; ++how) {
            (Reason reason, ) = _handler.registry().whyNotEligible(_handler.actors(how + 1));
            require(reason == reasons[how], "the worker is eligible still");
        }
        _handler.refuteLies();
        require(_handler.refutedLies() == 3 && _handler.immortal() == 0, "a lie lives");
    }

    /// @dev A chain that knows no hashes of blocks, or says one hash of all, is refused.
    function test_registry_isRefused_whereBlocksHaveNoHashesOfTheirOwn() external {
        bytes32[] memory ids = new bytes32[](1);
        ids[0] = bytes32(uint256(1));
        bytes memory code = Shipped.creationCode("contracts/attestation/Provisioning.sol:Provisioning");
        code = abi.encodePacked(code, abi.encode(ids, 1, 1));
        vm.roll(5_000);
        (bytes32 first, bytes32 second) = (keccak256("first"), keccak256("second"));
        bytes32[2][3] memory hashes = [[second, 0], [first, first], [bytes32(0), 0]];
        for (uint256 i = 0; i < 3; ++i) {
            vm.setBlockhash(4_998, hashes[i][0]);
            vm.setBlockhash(4_999, hashes[i][1]);
            require(_refusal(code) == IProvisioning.NoBlockHashes.selector, "taken, or refused for another reason");
        }
        vm.setBlockhash(4_998, first);
        vm.setBlockhash(4_999, second);
        require(_refusal(code) == 0, "refused");
    }

    function test_device_goesFromWorkerToWorker() external {
        _handler.releaseWorker(1);
        _handler.waitADay();
        _handler.attestWorker(2, 1, 0, 0, false);
        require(_handler.registry().isLive(_handler.actors(2)), "not live");
        _handler.attestWorker(1, 5, 1, 3, true);
        require(_handler.registry().isLive(_handler.actors(1)), "not live with another device");
        _handler.waitADay();
        require(!_handler.registry().isLive(_handler.actors(2)), "live for ever");
        _handler.attestWorker(3, 1, 0, 0, false);
        require(_handler.registry().isLive(_handler.actors(3)), "not live with an expired device");
        require(_handler.leasesAreExclusive(), "a device backs two workers");
    }

    /// @dev Tries to deploy a contract. @return reason The selector of its error; 0 if it was deployed.
    function _refusal(bytes memory code) private returns (bytes4 reason) {
        assembly ("memory-safe") {
            if iszero(create(0, add(code, 0x20), mload(code))) {
                returndatacopy(0, 0, 4)
                reason := and(mload(0), shl(224, 0xffffffff))
            }
        }
    }
}
