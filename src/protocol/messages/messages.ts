// The messages about tunnels. Each has a reader, and a writer when our own side sends it. Names on the wire are PascalCase.

import { Fields } from './fields.ts';

/** The request to bind a tunnel to a public address. */
export interface Bind {
  /** The id of the tunnel to resume; empty for a new tunnel. */
  id: string;
  /** The bind token from the response of the tunnel to resume. */
  token: string;
  proto: string;
  forwardsTo: string;
  /** '', `http1` or `http2`. */
  forwardsProto: string;
  /** What the agent calls it; '' for nothing, and from agents that know no names. */
  name: string;
  metadata: string;
  pooling: boolean;
  bindings: string[];
  /** An IP policy that the agent names; '' for none. Our own agent has no such thing. */
  ipPolicy: string;
  /** The options of the protocol, as received. */
  options: object;
}

export function readBind(message: object): Bind {
  const fields = new Fields(message);
  const extra = fields.fields('Extra');
  return {
    id: fields.text('Id'),
    token: extra.text('Token'),
    proto: fields.text('Proto'),
    forwardsTo: fields.text('ForwardsTo'),
    forwardsProto: fields.text('ForwardsProto'),
    name: extra.text('Name'),
    metadata: extra.text('Metadata'),
    pooling: extra.flag('PoolingEnabled'),
    bindings: extra.texts('Bindings'),
    ipPolicy: extra.text('IPPolicyRef'),
    options: fields.object('Opts'),
  };
}

export function writeBind(bind: Omit<Bind, 'bindings' | 'ipPolicy'>): object {
  return {
    Id: bind.id,
    Proto: bind.proto,
    ForwardsTo: bind.forwardsTo,
    ForwardsProto: bind.forwardsProto,
    Opts: bind.options,
    Extra: {
      Name: bind.name,
      Token: bind.token,
      Metadata: bind.metadata,
      Bindings: [],
      PoolingEnabled: bind.pooling,
    },
  };
}

/** The response to `Bind`. */
export interface BindResponse {
  /** The reason of the refusal, with the error code on a line of its own; empty when the bind is accepted. */
  error: string;
  /** The seconds after which the agent may retry; 0 when the gateway sends none. */
  retryAfter: number;
  id: string;
  url: string;
  token: string;
}

/** Reads the response to either kind of bind. That to a label bind has no URL. */
export function readBindResponse(message: object): BindResponse {
  const fields = new Fields(message);
  return {
    error: fields.text('Error'),
    retryAfter: fields.number('RetryAfter'),
    id: fields.text('Id'),
    url: fields.text('URL'),
    token: fields.fields('Extra').text('Token'),
  };
}

/** @param options the options of the request, with the values that the gateway chose. */
export function writeBindResponse(
  response: Omit<BindResponse, 'error' | 'retryAfter'>,
  proto: string,
  options: object,
): object {
  const { id, url, token } = response;
  return { Id: id, URL: url, Proto: proto, Opts: options, Error: '', Extra: { Token: token, TunnelID: id } };
}

/** The request to bind a tunnel with labels, by which edges select it. */
export interface LabelBind {
  /** The id of the tunnel to resume; empty for a new tunnel. Only our own agent sends one. */
  id: string;
  /** The bind token from the response of the tunnel to resume. */
  token: string;
  labels: Record<string, string>;
  forwardsTo: string;
  /** '', `http1` or `http2`. */
  forwardsProto: string;
  metadata: string;
}

export function readLabelBind(message: object): LabelBind {
  const fields = new Fields(message);
  return {
    id: fields.text('Id'),
    token: fields.fields('Extra').text('Token'),
    labels: fields.labels('Labels'),
    forwardsTo: fields.text('ForwardsTo'),
    forwardsProto: fields.text('ForwardsProto'),
    metadata: fields.text('Metadata'),
  };
}

export function writeLabelBind(bind: LabelBind): object {
  return {
    Id: bind.id,
    Labels: bind.labels,
    ForwardsTo: bind.forwardsTo,
    ForwardsProto: bind.forwardsProto,
    Metadata: bind.metadata,
    Extra: { Token: bind.token },
  };
}

export function writeLabelBindResponse({ id, token }: Pick<BindResponse, 'id' | 'token'>): object {
  return { Id: id, Error: '', Extra: { Token: token } };
}

/** The request of the gateway that an agent stops one tunnel. */
export interface StopTunnel {
  id: string;
  message: string;
  errorCode: string;
}

export function readStopTunnel(message: object): StopTunnel {
  const fields = new Fields(message);
  return { id: fields.text('Id'), message: fields.text('Message'), errorCode: fields.text('ErrorCode') };
}

export function writeStopTunnel({ id, message, errorCode }: StopTunnel): object {
  return { Id: id, Message: message, ErrorCode: errorCode };
}
