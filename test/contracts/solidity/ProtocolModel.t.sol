// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Delivery, IMarketEvents} from "../../../contracts/interfaces/IMarketEvents.sol";
import {IDisputeGame} from "../../../contracts/interfaces/IDisputeGame.sol";
import {GameState} from "../../../contracts/types/GameState.sol";
import {ProtocolWorld} from "./ProtocolWorld.t.sol";
import {vm, Vm} from "./Vm.sol";

/// @notice What the ends of games and deliveries must pay, from what was done and not from what the contracts keep.
abstract contract ProtocolModel is ProtocolWorld {
    /// @dev Of what a claim's death leaves for its games: the pot and what they are due together, their settlements at
    /// the highest price that these may have.
    struct Death {
        uint256 pot;
        uint256 dues;
        uint256 price;
        /// The dues without the settlements of other games, and the gas of these.
        uint256 moves;
        uint256 gas;
    }

    /// @dev The outputs that are small enough.
    uint256 internal constant DELIVERABLES = 5;
    /// @dev Gas, as the game's schedule has it.
    uint256 internal constant SETTLE = 59_500;
    /// @dev A settlement is paid as measured, at least this.
    uint256 internal constant LEAST_SETTLE = 45_000;
    uint256 internal constant LAST_SETTLE = 8_100;
    uint256 internal constant TIMEOUT = 150_000;
    uint256 internal constant EXPIRE = 100_000;
    uint256 internal constant MAX_PROOF = 1_000_000 + 200_000;

    /// @notice Games whose end paid the sides something else than the rules say, in full or, where a dead claim's pot
    /// is short, pro rata.
    uint256 public wrongPayouts;
    /// @notice Deliveries that logged, called or paid anything but what was due, once.
    uint256 public wrongDeliveries;
    /// @notice Games of dead claims that could not be settled: none may.
    uint256 public unsettled;
    /// @notice Deaths whose pot was less than what all their games were due.
    uint256 public shortPots;
    uint256 public died;

    /// @dev What a dead claim's games get is known when it dies.
    mapping(uint256 claim => Death) internal _deaths;
    /// @dev Bit i: output i.
    mapping(uint256 claim => uint256) internal _delivered;
    mapping(uint256 claim => uint256) internal _calledBack;
    mapping(uint256 claim => bool) internal _isPaid;
    /// @dev Accepted by its requester in its window.
    mapping(uint256 claim => bool) internal _isAccepted;
    mapping(address worker => uint256) internal _refutes;

    /// @dev What a claim's death, if it came now, would leave for its games. One of them ends with it.
    /// @param beside What else is due then.
    function _deathOf(uint256 c, uint256 beside) internal view returns (Death memory death) {
        uint256 open;
        death.moves = beside;
        for (uint256 i = 0; i < _games.length; ++i) {
            if (!_isOpen(i, c)) continue;
            ++open;
            death.moves += _due(this.unpack(_states[_games[i]]));
        }
        death.pot = _claims[c].collateral - _parameters().bounty;
        if (open > 1) death.gas = SETTLE * (open - 1) + LAST_SETTLE;
        _priceSettlements(death);
    }

    /// @dev Settlements get what moves leave.
    function _priceSettlements(Death memory death) internal view {
        death.price = death.gas == 0 ? 0 : _settlementPrice();
        uint256 spare = death.pot > death.moves ? death.pot - death.moves : 0;
        if (death.price * death.gas > spare) death.price = spare / death.gas;
        death.dues = death.moves + death.gas * death.price;
    }

    function _settlementPrice() private view returns (uint256) {
        return _price(block.basefee + block.basefee / 8 + 1, _parameters().priceCap);
    }

    /// @dev The price of the move that ended a claim, which is as measured, from the dues that the death logged. It is
    /// added to the death. More than one price can fit where settlements get what is left: then the money decides.
    /// @param gained What the account that the price goes to got for the price, if the pot was not short.
    /// @return price Zero if none fits.
    function _priceOfEnd(Death memory death, uint256 gained) internal returns (uint256 price) {
        uint256 logged = _duesLogged();
        uint256 dearest = death.moves + death.gas * _settlementPrice();
        uint256[3] memory fitting = [gained, _minus(logged, death.moves), _minus(logged, dearest)];
        uint256 moves = death.moves;
        for (uint256 i = 0; i < 3; ++i) {
            death.moves = moves + fitting[i];
            _priceSettlements(death);
            if (death.dues == logged) return fitting[i];
        }
    }

    function _minus(uint256 a, uint256 b) internal pure returns (uint256) {
        return a > b ? a - b : 0;
    }

    function _die(uint256 c, Death memory death) internal {
        ++died;
        ++_refutes[_claims[c].worker];
        _deaths[c] = death;
        if (death.pot < death.dues) ++shortPots;
    }

    /// @dev What whoever ends a claim gets for it.
    function _wonBy(GameState memory s, Death memory death, uint256 beside) internal view returns (uint256) {
        return s.bond + _parameters().bounty + _share(_due(s) + beside, death);
    }

    /// @dev The same where the pot is not short, without a price of the end.
    function _wonInFull(GameState memory s) internal view returns (uint256) {
        return s.bond + _parameters().bounty + _due(s);
    }

    /// @dev In full, or what is left by the pot.
    function _share(uint256 due, Death memory death) internal pure returns (uint256) {
        return death.dues <= death.pot ? due : (due * death.pot) / death.dues;
    }

    function _due(GameState memory s) internal view returns (uint256) {
        return game.bond() - s.bond + s.spent;
    }

    function _isOpen(uint256 i, uint256 c) internal view returns (bool) {
        return _claimOf[_games[i]] == c && uint256(game.stateHash(_games[i])) > 1;
    }

    /// @dev As the game has it: never zero, and capped.
    function _price(uint256 wanted, uint256 cap) internal pure returns (uint256) {
        uint256 unit = wanted == 0 ? 1 : wanted;
        return unit > cap ? cap : unit;
    }

    function _duesLogged() internal returns (uint256 dues) {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics[0] == IDisputeGame.ClaimDied.selector)
                (, dues, ) = abi.decode(logs[i].data, (uint256, uint256, uint256));
        }
    }

    /// @dev Takes in a delivery of an output, which was logged and taken at most once. Logs also hold what was undone
    /// inside a callback: those of other outputs are not read.
    /// @return released Times that the fee was to be paid with it.
    function _takeDelivery(uint256 c, uint256 output) internal returns (uint256 released) {
        (uint256 delivered, uint256 made, uint256 failed) = _eventsOf(output);
        uint256 bit = 1 << output;
        if (delivered != (_delivered[c] & bit == 0 ? 1 : 0)) ++wrongDeliveries;
        bool calls = _claims[c].job.callbackGas != 0 && _calledBack[c] & bit == 0;
        if (made + failed != (calls ? 1 : 0) || delivered + made + failed == 0) ++wrongDeliveries;
        _delivered[c] |= bit;
        if (made != 0) _calledBack[c] |= bit;
        // With the last output, or by the consumer from inside.
        released = consumer.acceptances();
        if (_delivered[c] == DELIVERABLES && !_isPaid[c]) ++released;
        if (released > (_isPaid[c] ? 0 : 1)) ++wrongDeliveries;
        if (released != 0) _isPaid[c] = true;
    }

    function _eventsOf(uint256 output) private returns (uint256 delivered, uint256 made, uint256 failed) {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            bytes32[] memory topics = logs[i].topics;
            if (topics[0] == IMarketEvents.OutputDelivered.selector && uint256(topics[3]) == output) ++delivered;
            if (topics[0] == IMarketEvents.CallbackMade.selector && uint256(topics[2]) == output) ++made;
            if (topics[0] == IMarketEvents.CallbackFailed.selector && uint256(topics[2]) == output) ++failed;
        }
    }

    function _delivery(uint256 c, uint256 output) internal view returns (Delivery memory) {
        bool lie = _lie[_claimId(_claims[c])];
        return Delivery(program(), uint32(output), _tensor(lie), _pathOf(_claims[c].job, output, lie));
    }
}
