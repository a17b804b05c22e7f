import { Route, Router } from 'preact-iso/router';
import { useParam } from '../../data/routing/use-param.ts';
import { NotFound } from '../../shell/not-found.tsx';
import './agents.css';
import { AgentPage } from './agent-page.tsx';
import { FleetList } from './fleet/fleet-list.tsx';
import { OperatorPage } from './operators/detail.tsx';
import { OperatorList } from './operators/list.tsx';
import { NewProvisioningKey } from './provisioning/key-new.tsx';
import { ProvisioningKeyPage } from './provisioning/key-page.tsx';
import { ProvisioningKeyList } from './provisioning/keys-list.tsx';
import { SessionList } from './session-list.tsx';
import { SessionPage } from './session-page.tsx';
import { TunnelPage } from './tunnel-detail.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={FleetList} />
      <Route path="/sessions" component={SessionList} />
      <Route path="/keys" component={ProvisioningKeyList} />
      <Route path="/keys/new" component={NewProvisioningKey} />
      <Route path="/keys/:id" component={ProvisioningKeyPage} />
      <Route path="/operators" component={OperatorList} />
      <Route path="/operators/:id" component={OperatorPage} />
      <Route path="/tunnels/:id" component={TunnelPage} />
      <Route path="/:id" component={AgentOrSession} />
      <Route default component={NotFound} />
    </Router>
  );
}

/** An agent, or one of its sessions. */
function AgentOrSession() {
  return useParam('id').startsWith('ts_') ? <SessionPage /> : <AgentPage />;
}
