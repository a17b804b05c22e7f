import { Route, Router } from 'preact-iso/router';
import { AgentPage } from './detail.tsx';
import { AgentList } from './list.tsx';
import { TunnelPage } from './tunnel-detail.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={AgentList} />
      <Route path="/tunnels/:id" component={TunnelPage} />
      <Route path="/:id" component={AgentPage} />
    </Router>
  );
}
