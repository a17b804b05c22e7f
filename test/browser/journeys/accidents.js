// What happens by accident in the dashboard, and that nothing is lost by it: unsaved work, unread secrets, changes of
// somebody else, a press while the page moves, texts that hide something, addresses that lead nowhere.

import { startAgent } from '../support/agent.js';
import { apiClient } from '../support/api.js';
import { drivePage } from '../support/page-driver.js';
import { recordPages } from '../support/page-recorder.js';
import { expectPromise } from '../support/promise.js';
import { decideConflict, pressWhileItChanges } from './conflict-steps.js';
import { leaveByAccident, leaveSecret, restoreDraft } from './leave-steps.js';
import { signInByLink } from './sign-in-steps.js';
import {
  dropCertificate,
  enterEarly,
  readLongNames,
  seeHidden,
  seeOfferedCommands,
  seeStaleDryRun,
  visitWrongAddresses,
} from './small-fault-steps.js';

/** Nobody visits the agent. */
const UNUSED_PORT = 9;

/**
 * @param {any} browser Playwright's
 * @param {import('../support/gateway.js').RunningGateway} gateway
 */
export async function haveAccidents(browser, { api, apiKey, signInLink, agentLine }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const { broken } = await recordPages(context);
  const driver = drivePage(await context.newPage(), api);
  const ask = apiClient(api, apiKey);
  const agent = startAgent(agentLine, UNUSED_PORT);
  try {
    await signInByLink(driver, signInLink);
    await leaveByAccident(driver);
    await restoreDraft(driver);
    await leaveSecret(driver);
    await decideConflict(driver, ask);
    await pressWhileItChanges(driver, ask);
    await enterEarly(driver, ask);
    await seeHidden(driver, ask);
    await seeStaleDryRun(driver, ask);
    await dropCertificate(driver, ask);
    await readLongNames(driver, ask);
    await seeOfferedCommands(driver, ask);
    await visitWrongAddresses(driver);
    expectPromise('no accident makes a page throw', broken.length === 0, broken);
  } finally {
    await context.close();
    await agent.stop();
  }
}
