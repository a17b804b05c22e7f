// The certificates of nodes, by which they recognize each other. The cluster's authority, which only its nodes can use, issues
// them; the id of the node is in the certificate.

import type { PeerCertificate } from 'node:tls';
import { exportKey, importKey, issueLeaf, newKeyPair } from '../runtime/issue-certificates.ts';
import { x509 } from '../runtime/x509.ts';

/** The authority of a cluster: its certificate and its private key, in PEM. */
export interface ClusterAuthority {
  cert: string;
  key: string;
}

/** What a node shows to others, and trusts, in PEM. */
export interface NodeIdentity {
  nodeId: string;
  cert: string;
  key: string;
  /** The certificate of the cluster's authority. */
  ca: string;
}

/** The lifetime of a certificate in days. A node gets a new one at each start, and long before the end of the old one. */
const NODE_DAYS = 30;
/** The prefix of the URI in the certificate; the node id follows it. */
const NODE_URI = 'urn:tunnel-gateway:node:';

/** Issues the certificate of a node, for a new key that never leaves this process. */
export async function issueNodeIdentity({ cert, key }: ClusterAuthority, nodeId: string): Promise<NodeIdentity> {
  const own = await newKeyPair();
  const issued = await issueLeaf(new (x509().X509Certificate)(cert), await importKey(key), {
    commonName: nodeId,
    names: [{ type: 'url', value: `${NODE_URI}${nodeId}` }],
    usages: ['server', 'client'],
    publicKey: own.publicKey,
    days: NODE_DAYS,
  });
  return { nodeId, cert: issued.toString('pem'), key: await exportKey(own), ca: cert };
}

/** The node id in a certificate that the authority has vouched for; undefined when it is not the certificate of a node. */
export function nodeIdOf({ subjectaltname = '' }: Pick<PeerCertificate, 'subjectaltname'>): string | undefined {
  const uri = subjectaltname.split(', ').find((name) => name.startsWith(`URI:${NODE_URI}`));
  return uri?.slice(`URI:${NODE_URI}`.length);
}
