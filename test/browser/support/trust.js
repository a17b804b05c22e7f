// Lets Chromium trust one name of a gateway. Its authority is of this run alone, and in no store of the machine.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:tls';

/**
 * The argument for Chromium that accepts the key that a gateway shows at a name.
 * @param {string} address host and port of the HTTPS listener
 * @param {string} servername
 * @param {string} ca the gateway's authority, in PEM
 * @returns {Promise<string>}
 * @throws {Error} if the authority does not vouch for the name.
 */
export async function trustArgument(address, servername, ca) {
  const [host, port] = address.split(':');
  const socket = connect({ host, port: Number(port), servername, ca });
  await once(socket, 'secureConnect');
  const key = socket.getPeerX509Certificate()?.publicKey.export({ type: 'spki', format: 'der' });
  socket.destroy();
  if (!key) throw new Error(`the gateway shows no certificate at ${servername}`);
  return `--ignore-certificate-errors-spki-list=${createHash('sha256').update(key).digest('base64')}`;
}
