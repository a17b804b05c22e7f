import { Route, Router } from 'preact-iso/router';
import { AgentPage } from './detail.tsx';
import { Agents } from './list.tsx';
import { TunnelPage } from './tunnel-detail.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={Agents} />
      <Route path="/tunnels/:id" component={TunnelPage} />
      <Route path="/:id" component={AgentPage} />
    </Router>
  );
}
