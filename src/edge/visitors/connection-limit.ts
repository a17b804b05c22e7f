// How many connections of visitors there may be, over all listeners, and which goes when there are that many: nobody is to
// hold the places of all others, be it one address or all who visit one account.

import type { Socket } from 'node:net';
import type { Networks } from '../../net/networks.ts';
import { abortSocket } from '../../protocol/relay.ts';
import { addressBlock, ipOf } from '../../tunnel/network/peer.ts';
import { ConnectionSlot, SlotHolders, SlotList, type SlotOwner } from './connection-slots.ts';

/** The share of all places that one address may hold safely, where nothing else is configured. */
const ADDRESS_SHARE = 1 / 4;
/** The share that the visitors of one account may hold safely. */
const ACCOUNT_SHARE = 1 / 2;
/** How many more may be open, as a share, to hear whom they come to, when the visitors of one account hold more than that. */
const ROUTING_SHARE = 1 / 64;

/**
 * Bytes that may wait, in all: answers that visitors do not take, of which 256 KiB for each stream are sure to come, and
 * requests of HTTP/2 that upstreams do not take.
 */
const HELD_MAX = 256 * 1024 * 1024;

export class ConnectionLimit implements SlotOwner {
  /** Connections that are open now. */
  open = 0;
  /** Bytes that wait. */
  held = 0;
  readonly max: number;
  /** Places without a request under way, the idlest first. */
  readonly idle = new SlotList('inIdle');
  /** Places on which bytes wait, first the one on which some have for the longest. */
  readonly #behind = new SlotList('inBehind');
  readonly #heldMax: number;
  readonly #addresses: SlotHolders;
  readonly #accounts: SlotHolders;
  readonly #proxies: Pick<Networks, 'has'> | undefined;

  /**
   * @param perAddress connections that one address may hold safely; 0: a quarter of `max`.
   * @param proxies whose connections are those of many: none of them counts as one address.
   */
  constructor(max: number, perAddress = 0, heldMax = HELD_MAX, proxies?: Pick<Networks, 'has'>) {
    this.#proxies = proxies;
    this.max = max;
    this.#heldMax = heldMax;
    this.#addresses = new SlotHolders('inAddress', perAddress || Math.ceil(max * ADDRESS_SHARE));
    this.#accounts = new SlotHolders('inAccount', Math.ceil(max * ACCOUNT_SHARE));
  }

  /**
   * Gives a connection a place until it is closed. When all are taken, the connection goes that has been idle for the
   * longest; when none is idle, the oldest one of another address that holds more than its share.
   * @returns undefined where there is no place.
   */
  admit(socket: Socket): ConnectionSlot | undefined {
    const ip = ipOf(socket);
    const network = this.#proxies?.has(ip) ? '' : addressBlock(ip);
    if (this.open >= this.#allowed && !this.#makeRoom(network)) return undefined;
    this.open++;
    const slot = new ConnectionSlot(this, socket);
    if (network !== '') this.#addresses.add(slot, network);
    this.idle.add(slot);
    socket.once('close', () => this.leave(slot));
    return slot;
  }

  /** The place is used for visits to an account from now on. */
  assign(slot: ConnectionSlot, accountId: string): void {
    this.#accounts.remove(slot);
    this.#accounts.add(slot, accountId);
  }

  /** Sees that there are not too many, when a place is used. @returns false where it is this one that is too many. */
  keeps(slot: ConnectionSlot): boolean {
    if (this.open <= this.max) return true;
    const { inAddress, inAccount } = slot;
    const crowding =
      this.#addresses.beyondShare(inAddress.list?.holder) ?? this.#accounts.beyondShare(inAccount.list?.holder);
    return this.#evict(this.idle.first ?? crowding);
  }

  /** So many bytes more wait. Where that makes too many, those are cut on whose places some have waited for the longest. */
  hold(slot: ConnectionSlot, bytes: number): void {
    if (slot.isFree) return;
    slot.held += bytes;
    this.held += bytes;
    this.#behind.add(slot);
    while (this.held > this.#heldMax && this.#evict(this.#behind.first));
  }

  /** So many have gone on. */
  release(slot: ConnectionSlot, bytes: number): void {
    if (slot.isFree) return;
    slot.held -= bytes;
    this.held -= bytes;
    if (slot.held === 0) this.#behind.remove(slot);
  }

  /** The place is free again. */
  leave(slot: ConnectionSlot): void {
    if (slot.isFree) return;
    this.release(slot, slot.held);
    slot.isFree = true;
    this.open--;
    this.idle.remove(slot);
    this.#addresses.remove(slot);
    this.#accounts.remove(slot);
  }

  /** @param network of whom the room is for: it does not get the place of its own busy connections. */
  #makeRoom(network: string): boolean {
    return this.#evict(this.idle.first ?? this.#addresses.beyondShare(network));
  }

  #evict(slot: ConnectionSlot | undefined): boolean {
    if (!slot) return false;
    const isIdle = slot === this.idle.first;
    this.leave(slot);
    if (isIdle) slot.socket.destroy();
    else abortSocket(slot.socket);
    return true;
  }

  get #allowed(): number {
    return this.#accounts.hasBeyond ? this.max + Math.ceil(this.max * ROUTING_SHARE) : this.max;
  }
}
