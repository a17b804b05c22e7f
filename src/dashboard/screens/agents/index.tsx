import { Route, Router } from 'preact-iso/router';
import { Agents } from './list.tsx';
import { AgentPage } from './one.tsx';
import { TunnelPage } from './tunnel.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={Agents} />
      <Route path="/tunnels/:id" component={TunnelPage} />
      <Route path="/:id" component={AgentPage} />
    </Router>
  );
}
