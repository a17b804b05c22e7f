// A mail server on this machine, which keeps what it is sent.

import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

/**
 * @typedef {object} Mail
 * @property {string[]} to
 * @property {string} source as it was sent: header fields, an empty line, the text
 */

/** Starts a mail server that takes everything, from everybody on this machine. */
export async function startMailServer() {
  /** @type {Mail[]} */
  const mails = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, { envelope }, done) {
      text(stream).then((source) => {
        mails.push({ to: envelope.rcptTo.map(({ address }) => address), source });
        done();
      }, done);
    },
  });
  await new Promise((resolve) => void server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.server.address());
  return { url: `smtp://127.0.0.1:${port}`, mails, close: () => void server.close(() => {}) };
}
